import { Toast } from '@base-ui/react/toast'
import { CircleCheck, CircleX, X } from 'lucide-react'
import type { FieldProblem } from '../../core/problem'
import { ApiError } from '../client'
import { TextWithCode } from './text-with-code'

const manager = Toast.createToastManager<object>()

const undoMs = 10_000

/** Short notifications at the edge of the page, announced to screen readers. */
export const toast = {
  /** @param undo reverts the change. Offered for ten seconds. */
  success(title: string, undo?: () => Promise<unknown>): void {
    const id = manager.add({
      title,
      type: 'success',
      timeout: undo ? undoMs : 5000,
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
  /** Shows an error. For server errors, includes the request ID to search the log for. */
  error(error: unknown): void {
    const apiError = error instanceof ApiError ? error : null
    const detail = [error instanceof Error ? error.message : String(error), ...(apiError?.errors ?? []).map(sentenceOf)]
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

/** The error of a field with its path, such as “`url` must not be empty.” */
const sentenceOf = ({ pointer, detail }: FieldProblem): string => {
  const path = pointer.replace(/^#\/?/, '').replaceAll('/', '.')
  return path === '' || /^[A-Z]/.test(detail) ? detail : `\`${path}\` ${detail}`
}

/** Renders the toasts. Use once per app. */
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
