// A unified diff with its signs and colours; what is no diff is no diff.
export const isDiff = (text: string): boolean =>
  /^(diff --git |--- .+\n\+\+\+ |@@ -\d)/m.test(text) && /^@@ -\d/m.test(text);

const linesMost = 2000;
const charactersMost = 2000; // Of a line.

const tone = (line: string): string => {
  if (line.startsWith('+++') || line.startsWith('---')) return 'text-muted';
  if (line.startsWith('+')) return 'bg-green-soft text-green';
  if (line.startsWith('-')) return 'bg-red-soft text-red';
  if (line.startsWith('@@')) return 'text-accent-text';
  return '';
};

export function Diff({ text }: { text: string }) {
  return (
    <pre tabIndex={0} className="max-h-96 overflow-auto py-2 font-mono text-[12.5px] leading-relaxed" data-diff>
      <div className="w-max min-w-full">
        {text
          .split('\n')
          .slice(0, linesMost)
          .map((line, i) => (
            <div key={i} className={`px-4 whitespace-pre ${tone(line)}`}>
              {line.length > charactersMost ? `${line.slice(0, charactersMost)}…` : line || ' '}
            </div>
          ))}
      </div>
    </pre>
  );
}
