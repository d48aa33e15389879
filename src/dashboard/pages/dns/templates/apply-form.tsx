import type { AppliedView, BindingView, PreviewView } from '../../../../features/dns/templates/binding-shapes'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { Call } from '../../../client'
import { Button } from '../../../parts/button'
import { Columns, Form, SelectField, TextField, useForm, type Values } from '../../../parts/form'
import { Problem } from '../../../parts/problem'
import { useSend } from '../../../queries'
import { Preview } from './preview'
import { variableValues, VariableFields, variablesOf } from './variable-fields'
import { ZoneField } from './zone-field'

interface ApplyFormProps {
  template: TemplateView
  /** The zone it is for; it is chosen in the form when absent. */
  zoneId?: string
  /** What was applied before: it is brought to the newest version. */
  binding?: BindingView
  onEnd(): void
}

/** Puts a template into a zone: where, with which values, and what that would change. */
export function ApplyForm({ template, zoneId, binding, onEnd }: ApplyFormProps) {
  const preview = useSend<PreviewView>({ quiet: true })
  const apply = useSend<AppliedView>({
    quiet: true,
    done: made => `${template.name} is applied to ${made.zone}`,
    stale: ['/dns/zones', '/dns/templates', '/dns/template-bindings', '/dns/records'],
    onDone: onEnd,
  })
  const path = binding ? `/dns/template-bindings/${binding.id}` : `/dns/templates/${template.id}`
  const where = (values: Values) => ({
    ...(!binding && { zone_id: values.zone_id, host: values.host === '' ? '@' : values.host }),
    variables: variablesOf(template.variables, values),
  })
  const blocked = preview.data?.blocked ?? []
  return (
    <Form
      initial={{
        zone_id: zoneId ?? '',
        host: '@',
        mode: 'linked',
        note: '',
        ...variableValues(template.variables, binding?.variables),
      }}
      call={values => ({
        method: 'POST',
        path: `${path}/apply`,
        body: {
          ...where(values),
          ...(!binding && { mode: values.mode }),
          ...(blocked.length > 0 && { allow: blocked.map(one => one.code), note: values.note }),
        },
      })}
      send={apply.mutateAsync}
      pending={apply.isPending}
      onCancel={onEnd}
      action={blocked.length > 0 ? 'Override and apply' : 'Apply'}
    >
      {!binding && (
        <>
          {zoneId === undefined && <ZoneField />}
          <Columns>
            <TextField name="host" label="At" mono hint="Name within the zone; @ is the apex." />
            <SelectField
              name="mode"
              label="Afterwards"
              choices={[
                ['linked', 'Follows the template'],
                ['once', 'Stays as it was applied'],
              ]}
            />
          </Columns>
        </>
      )}
      <VariableFields variables={template.variables} />
      <Look
        isPending={preview.isPending}
        onLook={values => preview.mutate({ method: 'POST', path: `${path}/preview`, body: where(values) } satisfies Call)}
      />
      {preview.error && <Problem error={preview.error} />}
      {preview.data && !preview.isPending && <Preview would={preview.data} />}
      {blocked.length > 0 && (
        <TextField
          name="note"
          label="Why it is meant"
          hint="Each reason above is overridden. Audit log and history keep your words."
        />
      )}
    </Form>
  )
}

function Look({ isPending, onLook }: { isPending: boolean; onLook(values: Values): void }) {
  const { values } = useForm()
  return (
    <div>
      <Button disabled={isPending} onClick={() => onLook(values)}>
        {isPending ? 'Working it out…' : 'See what would change'}
      </Button>
    </div>
  )
}
