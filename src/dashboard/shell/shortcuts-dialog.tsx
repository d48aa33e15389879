import { openDialog } from '../parts/open-dialog'
import { shortcuts } from './shortcuts'
import type { PageEntry } from '../pages'

/** Lists the keyboard shortcuts that work on every page. @param isEnabled whether single-key shortcuts work */
export function showShortcuts(items: readonly PageEntry[], isEnabled: boolean): void {
  const rows = [...shortcuts, ...items.filter(one => one.letter).map(one => [`g ${one.letter}`, `Go to ${one.title}`] as const)]
  openDialog({
    title: 'Keyboard shortcuts',
    description: isEnabled ? undefined : 'Single-key shortcuts are disabled. You can enable them in your profile.',
    content: (
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
    ),
  })
}
