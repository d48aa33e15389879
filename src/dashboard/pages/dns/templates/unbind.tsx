import type { BindingView } from '../../../../features/dns/templates/binding-shapes'
import { SelectField } from '../../../parts/form'
import { openForm } from '../../../parts/open-dialog'

/** Removes a template from a zone, with or without its records. @param name of the template */
export const unbind = ({ id, zone, mode }: BindingView, name: string): void =>
  openForm({
    title: `Remove ${name} from ${zone}?`,
    description: `${mode === 'linked' ? 'The zone will no longer follow the template. ' : ''}Records that were edited in the zone are always kept.`,
    submitLabel: 'Remove from zone',
    initial: { records: 'keep' },
    call: ({ records }) => ({
      method: 'DELETE',
      path: `/dns/template-bindings/${id}`,
      query: { records: String(records) },
    }),
    send: {
      toast: `${name} removed from ${zone}`,
      invalidates: ['/dns/zones', '/dns/templates', '/dns/template-bindings', '/dns/records'],
    },
    fields: (
      <SelectField
        name="records"
        label="Records"
        choices={{ keep: 'Keep in the zone', remove: 'Delete, except edited records and records used by other templates' }}
      />
    ),
  })
