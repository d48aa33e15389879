import type { BindingView } from '../../../../features/dns/templates/binding-shapes'
import { Dialog } from '../../../parts/dialog'
import { Form, SelectField } from '../../../parts/form'

interface UnbindProps {
  binding: BindingView
  /** Name of the template. */
  name: string
  onEnd(): void
}

/** Removes a template from a zone, with or without its records. */
export const Unbind = ({ binding, name, onEnd }: UnbindProps) => (
  <Dialog
    open
    onClose={onEnd}
    title={`Remove ${name} from ${binding.zone}?`}
    description="The zone will no longer follow the template. Modified records are always kept."
  >
    <Form
      initial={{ records: 'keep' }}
      call={({ records }) => ({
        method: 'DELETE',
        path: `/dns/template-bindings/${binding.id}`,
        query: { records: String(records) },
      })}
      send={{
        toast: `${name} removed from ${binding.zone}`,
        invalidates: ['/dns/zones', '/dns/templates', '/dns/template-bindings', '/dns/records'],
        onSuccess: onEnd,
      }}
      onCancel={onEnd}
      submitLabel="Remove template"
    >
      <SelectField
        name="records"
        label="Records"
        choices={{ keep: 'Keep in the zone', remove: 'Delete, except modified records and records used by other templates' }}
      />
    </Form>
  </Dialog>
)
