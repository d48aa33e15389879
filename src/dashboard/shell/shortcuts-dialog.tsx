import { Dialog } from '../parts/dialog'
import { shortcuts } from './shortcuts'
import type { PageEntry } from '../pages'

/** Lists the keyboard shortcuts that work on every page. */
export function ShortcutsDialog({ open, onClose, items }: { open: boolean; onClose(): void; items: readonly PageEntry[] }) {
  const rows = [...shortcuts, ...items.filter(one => one.letter).map(one => [`g ${one.letter}`, `Go to ${one.title}`] as const)]
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        {rows.map(([key, action]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-canvas px-1.5 py-0.5 font-mono text-[13px]">{key}</kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
