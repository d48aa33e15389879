import { Toast } from '@base-ui/react/toast'
import { CircleCheck, CircleX, X } from 'lucide-react'
import { Refused } from '../client'

const manager = Toast.createToastManager<object>()

const undoMs = 10_000

/** Short words about what was done, at the edge of the page. Screen readers are told, too. */
export const toast = {
  /** @param undo takes it back; offered for ten seconds */
  done(title: string, undo?: () => Promise<unknown>): void {
    const id = manager.add({
      title,
      type: 'done',
      timeout: undo ? undoMs : 5000,
      ...(undo && {
        actionProps: {
          children: 'Undo',
          onClick: () => {
            manager.close(id)
            undo().then(() => toast.done('Undone'), toast.failed)
          },
        },
      }),
    })
  },
  /** Tells why something was not done, with the id to look for in the log when it is the hub's fault. */
  failed(error: unknown): void {
    const refused = error instanceof Refused ? error : null
    const detail = [error instanceof Error ? error.message : String(error), ...(refused?.errors ?? []).map(one => one.detail)]
    manager.add({
      title: 'That did not work',
      description: [...new Set(detail)].join(' ') + (refused && refused.status >= 500 ? ` (${refused.requestId})` : ''),
      type: 'failed',
      timeout: 12_000,
    })
  },
}

/** Where the toasts are; once, around everything. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={manager} limit={4}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-20 z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2 md:bottom-4">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts } = Toast.useToastManager()
  return toasts.map(one => (
    <Toast.Root
      key={one.id}
      toast={one}
      className="flex items-start gap-2 rounded-lg border border-line bg-raised p-3 shadow-lg transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
    >
      {one.type === 'failed' ? (
        <CircleX className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      ) : (
        <CircleCheck className="mt-0.5 size-4 shrink-0 text-ok" aria-hidden />
      )}
      <div className="min-w-0 grow" {...(one.type === 'failed' && { role: 'alert' })}>
        <Toast.Title className="font-medium" />
        <Toast.Description className="text-muted wrap-anywhere" />
      </div>
      <Toast.Action className="shrink-0 rounded px-2 font-medium text-accent hover:bg-hover" />
      <Toast.Close className="shrink-0 rounded p-0.5 text-muted hover:bg-hover" aria-label="Close">
        <X className="size-4" aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ))
}
