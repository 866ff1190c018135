// Server-sent events out of a byte stream, as the standard says: lines end in CR, LF or both, an empty line ends an
// event, and a piece may be cut anywhere, inside a character too.
export interface ServerEvent {
  id: string; // The last id seen so far.
  type: string;
  data: string;
}

export class SseParser {
  #decoder = new TextDecoder();
  #rest = '';
  #skipFeed = false; // The CR of a CR LF ended the line already.
  #id = '';
  #type = '';
  #data: string[] = [];

  push(bytes: Uint8Array): ServerEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (this.#skipFeed && text.startsWith('\n')) text = text.slice(1);
    if (text) this.#skipFeed = false;
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    if (text.endsWith('\r')) this.#skipFeed = true;
    this.#rest = lines.pop() ?? '';
    const events: ServerEvent[] = [];
    for (const line of lines) this.#line(line, events);
    return events;
  }

  #line(line: string, events: ServerEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0)
        events.push({ id: this.#id, type: this.#type || 'message', data: this.#data.join('\n') });
      this.#data = [];
      this.#type = '';
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return; // A comment: the heartbeat.
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? '' : line.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#type = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
  }
}
