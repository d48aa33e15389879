import { Toast } from '@base-ui/react/toast'
import { Link, useLocation } from '@tanstack/react-router'
import { CircleCheck, CircleX, X } from 'lucide-react'
import { ApiError } from '../client'
import { errorText } from './field-errors'
import { TextWithCode } from './text-with-code'

interface ToastData {
  /** The page that it links to. */
  to?: string
}
const manager = Toast.createToastManager<ToastData>()

const actionMs = 10_000
// Toasts to show once a dialog is closed that covers the page until then.
let held: (() => void)[] | null = null

interface SuccessOptions {
  /** Reverts the change. Offered for ten seconds. */
  undo?: (() => Promise<unknown>) | undefined
  /** The page to link to, such as the one of what was created. */
  to?: string | undefined
}

/** Short notifications at the edge of the page, announced to screen readers. */
export const toast = {
  success(title: string, { undo, to }: SuccessOptions = {}): void {
    if (held) return void held.push(() => toast.success(title, { undo, to }))
    const id = manager.add({
      title,
      type: 'success',
      timeout: undo || to ? actionMs : 5000,
      ...(to && { data: { to } }),
      ...(undo && {
        actionProps: {
          children: 'Undo',
          onClick: () => {
            manager.close(id)
            undo().then(() => toast.success('Undone'), toast.error)
          },
        },
      }),
    })
  },
  /** Keeps toasts of changes until `release`. */
  hold(): void {
    held ??= []
  },
  release(): void {
    const kept = held ?? []
    held = null
    for (const show of kept) show()
  },
  /** Shows an error. For server errors, includes the request ID to search the log for. */
  error(error: unknown): void {
    const apiError = error instanceof ApiError ? error : null
    const detail = apiError?.errors.length
      ? apiError.errors.map(one => errorText(one))
      : [error instanceof Error ? error.message : String(error)]
    manager.add({
      title: 'Request failed',
      description: (
        <TextWithCode
          text={[...new Set(detail)].join(' ') + (apiError && apiError.status >= 500 ? ` (${apiError.requestId})` : '')}
        />
      ),
      type: 'failed',
      timeout: 12_000,
    })
  },
}

/** Renders the toasts. Use once per app, within the router. */
export const Toasts = () => (
  <Toast.Provider toastManager={manager} limit={4}>
    <Toast.Portal>
      <Toast.Viewport className="fixed right-4 bottom-20 z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2 md:bottom-4">
        <ToastList />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)

function ToastList() {
  const { toasts } = Toast.useToastManager()
  const { pathname } = useLocation()
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
      {one.data?.to !== undefined && one.data.to !== pathname && (
        <Link
          to={one.data.to}
          onClick={() => manager.close(one.id)}
          className="shrink-0 rounded px-2 font-medium text-accent hover:bg-hover"
        >
          View
        </Link>
      )}
      <Toast.Action className="shrink-0 rounded px-2 font-medium text-accent hover:bg-hover" />
      <Toast.Close className="shrink-0 rounded p-0.5 text-muted hover:bg-hover" aria-label="Close">
        <X className="size-4" aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ))
}
