import { Dialog } from '../parts/dialog'
import { keys } from './keys'
import type { Place } from './navigation'

/** All keys that work everywhere. */
export function KeysSheet({ open, onClose, places }: { open: boolean; onClose(): void; places: readonly Place[] }) {
  const lines = [...keys, ...places.filter(one => one.letter).map(one => [`g ${one.letter}`, one.label] as const)]
  return (
    <Dialog open={open} onClose={onClose} title="Keys">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        {lines.map(([what, does]) => (
          <div key={what} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-canvas px-1.5 py-0.5 font-mono text-[13px]">{what}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
