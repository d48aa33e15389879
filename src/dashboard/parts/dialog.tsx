import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Button } from './button'

interface DialogProps {
  open: boolean
  onClose(): void
  title: ReactNode
  description?: ReactNode
  wide?: boolean
  children?: ReactNode
}

/** Something over the page. Escape and a click beside it close it; the focus stays within and goes back where it was. */
export function Dialog({ open, onClose, title, description, wide, children }: DialogProps) {
  return (
    <BaseDialog.Root open={open} onOpenChange={to => !to && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-shade" />
        <BaseDialog.Popup
          className={`fixed inset-x-0 bottom-0 z-40 max-h-[92dvh] overflow-y-auto rounded-t-xl border border-line bg-raised p-5 shadow-2xl sm:inset-x-auto sm:top-[10dvh] sm:bottom-auto sm:left-1/2 sm:max-h-[80dvh] sm:-translate-x-1/2 sm:rounded-xl ${
            wide ? 'sm:w-[min(56rem,calc(100vw-2rem))]' : 'sm:w-[min(34rem,calc(100vw-2rem))]'
          }`}
        >
          <div className="mb-3 flex items-start gap-2">
            <BaseDialog.Title className="grow text-base font-semibold">{title}</BaseDialog.Title>
            <BaseDialog.Close className="-m-1 rounded p-1 text-muted hover:bg-hover" aria-label="Close">
              <X className="size-4" aria-hidden />
            </BaseDialog.Close>
          </div>
          {description && <BaseDialog.Description className="mb-4 text-muted">{description}</BaseDialog.Description>}
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  )
}

interface ConfirmProps {
  open: boolean
  onClose(): void
  title: ReactNode
  /** What will happen, and what is lost. */
  children?: ReactNode
  /** The word on the button: what is done, such as «Delete zone». */
  action: string
  /** A name that has to be typed first, for what cannot be taken back. */
  typed?: string
  pending?: boolean
  onConfirm(): void
}

/** Asks before something that cannot be undone. */
export function Confirm({ open, onClose, title, children, action, typed, pending, onConfirm }: ConfirmProps) {
  const [text, setText] = useState('')
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <form
        onSubmit={event => {
          event.preventDefault()
          onConfirm()
        }}
      >
        <div className="text-muted">{children}</div>
        {typed !== undefined && (
          <label className="mt-4 block">
            <span className="mb-1 block">
              Type <strong className="font-mono">{typed}</strong> to go on
            </span>
            <input
              value={text}
              onChange={event => setText(event.target.value)}
              autoComplete="off"
              spellCheck={false}
              className="h-9 w-full rounded-md border border-strong-line bg-surface px-2 font-mono"
            />
          </label>
        )}
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="bad" type="submit" disabled={pending || (typed !== undefined && text !== typed)}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
