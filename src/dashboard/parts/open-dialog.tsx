import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'
import type { Call } from '../client'
import type { PagePath } from '../pages'
import { useSend, type SendOptions } from '../queries'
import { Button } from './button'
import { Dialog } from './dialog'
import { Form, TypeToConfirm, type FormProps } from './form'
import { capitalize } from './status'
import { store } from './store'
import { toast } from './toast'

interface DialogContent {
  title: ReactNode
  description?: ReactNode
  wide?: boolean
  /** Whether only its content closes it. No other dialog replaces it. */
  isPersistent?: boolean
  content: ReactNode
}

// The key separates a dialog from the one that it replaces.
const opened = store<{ key: number; dialog: DialogContent | null }>({ key: 0, dialog: null })
function show(dialog: DialogContent | null): void {
  opened.set({ key: opened.now().key + 1, dialog })
  if (dialog?.isPersistent) toast.hold()
  else toast.release()
}

/** Opens a dialog, in place of the one that is open. */
export function openDialog(dialog: DialogContent): void {
  if (!opened.now().dialog?.isPersistent) show(dialog)
}
export const closeDialog = (): void => show(null)

/** Renders the dialog that is open. Going to another page closes it. Use once per app. */
export function OpenDialog() {
  const { key, dialog } = opened.use()
  const { pathname } = useLocation()
  useEffect(() => closeDialog, [pathname])
  return (
    <Dialog
      key={key}
      open={dialog !== null}
      onClose={dialog?.isPersistent ? null : closeDialog}
      title={dialog?.title}
      description={dialog?.description}
      wide={dialog?.wide ?? false}
    >
      {dialog?.content}
    </Dialog>
  )
}

/** Returns a function that closes the surrounding dialog, unless another one has replaced it. */
function useClose(): () => void {
  const [key] = useState(() => opened.now().key)
  return () => {
    if (opened.now().key === key) closeDialog()
  }
}

interface FormDialog<Result> extends Omit<FormProps<Result>, 'submitLabel' | 'children'> {
  /** Also the label of the button, if it has no other. */
  title: string
  submitLabel?: string
  description?: ReactNode
  wide?: boolean
  fields: ReactNode
}

/** Opens a dialog with a form. It closes once the form is sent. */
export const openForm = <Result,>({ title, description, wide = false, ...form }: FormDialog<Result>): void =>
  openDialog({ title, description, wide, content: <DialogForm submitLabel={title} {...form} /> })

type DialogFormProps<Result> = Omit<FormProps<Result>, 'children'> & { fields: ReactNode }

function DialogForm<Result>({ fields, send, ...form }: DialogFormProps<Result>) {
  const close = useClose()
  const sendAndClose: FormProps<Result>['send'] =
    typeof send === 'function'
      ? call => send(call).then(close)
      : {
          ...send,
          onSuccess: result => {
            // First, since what follows may open another dialog.
            close()
            send?.onSuccess?.(result)
          },
        }
  return (
    <Form<Result> {...form} send={sendAndClose} onCancel={close}>
      {fields}
    </Form>
  )
}

interface Confirmation<Result> {
  title: string
  /** What will happen, and what will be lost. */
  text: ReactNode
  /** Label of the button: the action, such as “Delete zone”. Not the answer to a question, such as “Yes”. */
  action: string
  /** Text the user has to type first, for irreversible actions. */
  typeToConfirm?: string | undefined
  call: Call
  send: SendOptions<Result>
  /** The page to show afterwards. */
  next?: PagePath
}

/** Asks for confirmation of an irreversible action, and sends it. */
export const confirm = <Result,>(confirmation: Confirmation<Result>): void =>
  openDialog({ title: confirmation.title, content: <Confirm {...confirmation} /> })

interface Deletion {
  /** Type of the resource: “monitor”. */
  noun: string
  /** The name of the resource, if it has one. */
  name?: string
  /** API path of the resource. */
  path: string
  invalidates: readonly string[]
  /** The page that lists such resources, shown afterwards if this is the page of one. */
  next?: PagePath
  /** Requires typing the name. */
  typed?: boolean
  /** What will be lost. */
  text: ReactNode
}

/** Asks for confirmation, and deletes a resource. */
export const confirmDelete = ({ noun, name, path, invalidates, next, typed, text }: Deletion): void =>
  confirm({
    title: `Delete ${name ?? noun}?`,
    text,
    action: `Delete ${noun}`,
    typeToConfirm: typed ? name : undefined,
    call: { method: 'DELETE', path },
    send: { toast: `${name ?? capitalize(noun)} deleted`, invalidates },
    ...(next && { next }),
  })

/** The content of a confirmation. */
export function Confirm<Result>({ text, action, typeToConfirm, call, send, next }: Omit<Confirmation<Result>, 'title'>) {
  const navigate = useNavigate()
  const close = useClose()
  const { mutate, isPending } = useSend<Result>({
    ...send,
    onSuccess: result => {
      close()
      send.onSuccess?.(result)
      if (next) void navigate({ to: next })
    },
  })
  const [typed, setTyped] = useState('')
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        mutate(call)
      }}
    >
      <div className="text-muted">{text}</div>
      {typeToConfirm !== undefined && (
        <div className="mt-4">
          <TypeToConfirm text={typeToConfirm} typed={typed} onType={setTyped} />
        </div>
      )}
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={close}>Cancel</Button>
        <Button kind="danger" type="submit" disabled={isPending || (typeToConfirm !== undefined && typed !== typeToConfirm)}>
          {action}
        </Button>
      </div>
    </form>
  )
}
