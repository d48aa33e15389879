import { useNavigate } from '@tanstack/react-router'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Call } from '../client'
import type { PagePath } from '../pages'
import { useSend, type SendOptions } from '../queries'
import { Button } from './button'
import { Input } from './input'

interface DialogProps {
  open: boolean
  onClose(): void
  title: ReactNode
  description?: ReactNode
  wide?: boolean
  children?: ReactNode
}

/** A modal dialog. Escape or a click outside closes it. It traps the focus and restores it afterwards. */
export const Dialog = ({ open, onClose, title, description, wide, children }: DialogProps) => (
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

interface ConfirmProps<Result> {
  open: boolean
  onClose(): void
  title: ReactNode
  /** What will happen, and what will be lost. */
  children?: ReactNode
  /** Label of the button: the action, such as “Delete zone”. */
  confirmLabel: string
  /** Text the user has to type first, for irreversible actions. */
  typeToConfirm?: string | undefined
  /** Returns the call to send. Null while closed. */
  call(): Call | null
  /** What happens after the call, such as closing the dialog. */
  send: SendOptions<Result>
}

/** Asks for confirmation of an irreversible action. */
export function Confirm<Result>(props: ConfirmProps<Result>) {
  const { open, onClose, title, children, confirmLabel, typeToConfirm, call, send } = props
  const { mutate, isPending } = useSend<Result>(send)
  const [text, setText] = useState('')
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <form
        onSubmit={event => {
          event.preventDefault()
          const next = call()
          if (next) mutate(next)
        }}
      >
        <div className="text-muted">{children}</div>
        {typeToConfirm !== undefined && (
          <label className="mt-4 block">
            <span className="mb-1 block">
              Type <strong className="font-mono">{typeToConfirm}</strong> to confirm
            </span>
            <Input mono value={text} onText={setText} autoComplete="off" />
          </label>
        )}
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit" disabled={isPending || (typeToConfirm !== undefined && text !== typeToConfirm)}>
            {confirmLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface DeleteDialogProps {
  open: boolean
  onClose(): void
  /** Type of the resource: “monitor”. */
  noun: string
  name: string
  /** API path of the resource. */
  path: string
  invalidates: readonly string[]
  /** The page that lists such resources, shown afterwards. */
  parent: PagePath
  /** Requires typing the name. */
  typed?: boolean
  /** What will be lost. */
  children: ReactNode
}

/** Asks for confirmation, deletes a resource, and leaves its page. */
export function DeleteDialog({ open, onClose, noun, name, path, invalidates, parent, typed, children }: DeleteDialogProps) {
  const navigate = useNavigate()
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Delete ${name}?`}
      confirmLabel={`Delete ${noun}`}
      typeToConfirm={typed ? name : undefined}
      call={() => ({ method: 'DELETE', path })}
      send={{ toast: `${name} deleted`, invalidates, onSuccess: () => void navigate({ to: parent }) }}
    >
      {children}
    </Confirm>
  )
}
