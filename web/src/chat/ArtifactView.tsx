// A picture, a document or a web page that a task left. All of them are hostile: a picture is an <img>, which runs nothing; a
// page is in a sandbox without scripts, and it has this page's own policy (a blob inherits it), so it fetches nothing either.
import { ExternalLink } from 'lucide-react';
import { useEffect, useState } from 'react';

import { fetchText } from '../api/client';
import { useTranslation } from '../i18n/i18n';
import { shown } from '../lib/hidden';
import type { View } from './artifactKinds';

const stylesMost = 200;
const styledMost = 20_000;

// The policy lets a page have no styles in its text. Styles that we make are no text: so what it says in its own is made here.
// It runs nothing, and what a style may load is bounded by the policy.
function style(frame: HTMLIFrameElement): void {
  const page = frame.contentDocument;
  const inner = frame.contentWindow as (Window & typeof globalThis) | null;
  if (!page || !inner) return;
  const sheets = [...page.querySelectorAll('style')].slice(0, stylesMost).map((each) => {
    const sheet = new inner.CSSStyleSheet();
    sheet.replaceSync(each.textContent);
    return sheet;
  });
  page.adoptedStyleSheets = sheets;
  for (const each of [...page.querySelectorAll<HTMLElement>('[style]')].slice(0, styledMost))
    each.style.cssText = each.getAttribute('style') ?? '';
}

// An address of the bytes, for as long as they are shown.
function useBytes(address: string, type: string): { url: string | null; error: string | null } {
  const [state, setState] = useState<{ url: string | null; error: string | null }>({ url: null, error: null });
  useEffect(() => {
    const abort = new AbortController();
    let made = '';
    fetchText(address, abort.signal)
      .then((response) => response.arrayBuffer())
      .then((bytes) => {
        if (abort.signal.aborted) return;
        made = URL.createObjectURL(new Blob([bytes], { type }));
        setState({ url: made, error: null });
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted)
          setState({ url: null, error: error instanceof Error ? error.message : String(error) });
      });
    return () => {
      abort.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [address, type]);
  return state;
}

interface Props {
  address: string;
  name: string;
  kind: View;
  type: string;
}

export function ArtifactView({ address, name, kind, type }: Props) {
  const { t } = useTranslation();
  const { url, error } = useBytes(address, type);
  if (!url) return <p className="border-t border-line px-4 py-3 text-muted">{error ?? t('common.loading')}</p>;
  const label = t(kind === 'picture' ? 'artifacts.picture' : 'artifacts.document', { name: shown(name) });
  return (
    <div className="border-t border-line p-3">
      {kind === 'picture' && (
        <img
          src={url}
          alt={label}
          className="mx-auto max-h-[70vh] max-w-full rounded-lg"
          data-testid="artifact-picture"
        />
      )}
      {kind === 'html' && (
        <iframe
          src={url}
          title={label}
          sandbox="allow-same-origin"
          referrerPolicy="no-referrer"
          className="h-[60vh] w-full rounded-lg border border-line bg-[#fff]"
          onLoad={(event) => style(event.currentTarget)}
          data-testid="artifact-page"
        />
      )}
      {kind === 'pdf' && (
        <>
          <iframe
            src={url}
            title={label}
            className="h-[70vh] w-full rounded-lg border border-line"
            data-testid="artifact-document"
          />
          <a href={url} target="_blank" rel="noreferrer" className="btn mt-2">
            <ExternalLink size={14} aria-hidden />
            {t('artifacts.openTab')}
          </a>
        </>
      )}
    </div>
  );
}
