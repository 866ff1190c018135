// The comments of a review, as a draft of this tab: they stay until they are sent or removed.
import { useCallback, useState } from 'react';

import { randomKey } from '../lib/clipboard';
import { readDraft, writeDraft } from '../chat/drafts';
import { commentsMost, readComments, type Comment } from './review';

export interface Review {
  comments: Comment[];
  editing: string | null;
  full: boolean;
  begin: (comment: Omit<Comment, 'id' | 'text'>) => void;
  edit: (id: string) => void;
  write: (id: string, text: string) => void;
  done: () => void; // With what is being written; an empty one is none.
  remove: (id: string) => void;
  clear: () => void;
}

export function useReview(taskId: string): Review {
  const place = `review ${taskId}`;
  const [comments, setComments] = useState(() => readComments(readDraft(place)).filter((each) => each.text.trim()));
  const [editing, setEditing] = useState<string | null>(null);
  const change = useCallback(
    (next: (old: Comment[]) => Comment[]) =>
      setComments((old) => {
        const made = next(old);
        writeDraft(place, made.length > 0 ? JSON.stringify(made) : '');
        return made;
      }),
    [place],
  );
  const filled = (all: Comment[]) => all.filter((each) => each.text.trim() !== '');
  return {
    comments,
    editing,
    full: comments.length >= commentsMost,
    begin: (comment) => {
      const id = randomKey();
      change((old) => [...filled(old), { ...comment, id, text: '' }].slice(0, commentsMost));
      setEditing(id);
    },
    edit: (id) => {
      change(filled);
      setEditing(id);
    },
    write: (id, text) => change((old) => old.map((each) => (each.id === id ? { ...each, text } : each))),
    done: () => {
      change(filled);
      setEditing(null);
    },
    remove: (id) => {
      change((old) => old.filter((each) => each.id !== id));
      setEditing(null);
    },
    clear: () => {
      change(() => []);
      setEditing(null);
    },
  };
}
