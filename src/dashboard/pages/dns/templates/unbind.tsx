import type { BindingView } from '../../../../features/dns/templates/binding-shapes'
import { Dialog } from '../../../parts/dialog'
import { Form, SelectField } from '../../../parts/form'
import { useSend } from '../../../queries'

interface UnbindProps {
  binding: BindingView
  /** Of the template. */
  name: string
  onEnd(): void
}

/** Takes a template off a zone, with its records or without. */
export function Unbind({ binding, name, onEnd }: UnbindProps) {
  const send = useSend({
    quiet: true,
    done: `${name} was taken off ${binding.zone}`,
    stale: ['/dns/zones', '/dns/templates', '/dns/template-bindings', '/dns/records'],
    onDone: onEnd,
  })
  return (
    <Dialog
      open
      onClose={onEnd}
      title={`Take ${name} off ${binding.zone}?`}
      description="The zone does not follow the template any more. Records that were edited stay in any case."
    >
      <Form
        initial={{ records: 'keep' }}
        call={({ records }) => ({
          method: 'DELETE',
          path: `/dns/template-bindings/${binding.id}`,
          query: { records: String(records) },
        })}
        send={send.mutateAsync}
        pending={send.isPending}
        onCancel={onEnd}
        action="Take it off"
      >
        <SelectField
          name="records"
          label="What it put there"
          choices={[
            ['keep', 'stays'],
            ['remove', 'goes, but for what was edited and what others rely on'],
          ]}
        />
      </Form>
    </Dialog>
  )
}
