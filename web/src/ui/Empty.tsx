import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

// `page`: there is nothing else on the page, and this is its heading.
export function Empty({
  icon: Icon,
  title,
  page = false,
  children,
}: {
  icon: LucideIcon;
  title: string;
  page?: boolean;
  children?: ReactNode;
}) {
  const Title = page ? 'h1' : 'p';
  return (
    <div className="flex h-full flex-col items-center justify-center px-6 py-16 text-center">
      <div className="mb-4 grid size-14 place-items-center rounded-2xl bg-accent-soft text-accent-text">
        <Icon size={26} aria-hidden />
      </div>
      <Title className="max-w-md text-[15px] font-medium text-balance">{title}</Title>
      <div className="mt-2 max-w-md text-balance text-muted">{children}</div>
    </div>
  );
}
