import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'

interface DialogProps {
  open: boolean
  /** Null if only the content closes it. */
  onClose: (() => void) | null
  title: ReactNode
  description?: ReactNode
  wide?: boolean
  children?: ReactNode
}

/** A modal dialog. Escape or a click outside closes it, unless only its content does. It traps the focus and restores it afterwards. */
export const Dialog = ({ open, onClose, title, description, wide, children }: DialogProps) => (
  <BaseDialog.Root open={open} onOpenChange={to => !to && onClose?.()}>
    <BaseDialog.Portal>
      <BaseDialog.Backdrop data-backdrop className="fixed inset-0 z-40 bg-shade" />
      <BaseDialog.Popup
        className={`fixed inset-x-0 bottom-0 z-40 max-h-[92dvh] overflow-y-auto rounded-t-xl border border-line bg-raised p-5 shadow-2xl sm:inset-x-auto sm:top-[10dvh] sm:bottom-auto sm:left-1/2 sm:max-h-[80dvh] sm:-translate-x-1/2 sm:rounded-xl ${
          wide ? 'sm:w-[min(56rem,calc(100vw-2rem))]' : 'sm:w-[min(34rem,calc(100vw-2rem))]'
        }`}
      >
        <div className="mb-3 flex items-start gap-2">
          <BaseDialog.Title className="grow text-base font-semibold">{title}</BaseDialog.Title>
          {onClose && (
            <BaseDialog.Close className="-m-1 rounded p-1 text-muted hover:bg-hover" aria-label="Close">
              <X className="size-4" aria-hidden />
            </BaseDialog.Close>
          )}
        </div>
        {description && <BaseDialog.Description className="mb-4 text-muted">{description}</BaseDialog.Description>}
        {children}
      </BaseDialog.Popup>
    </BaseDialog.Portal>
  </BaseDialog.Root>
)
