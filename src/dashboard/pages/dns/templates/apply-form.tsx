import type { ApplyResultView, BindingView, PreviewView } from '../../../../features/dns/templates/binding-shapes'
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
  /** Zone to apply the template to. If omitted, the form has a zone field. */
  zoneId?: string
  /** Existing binding to update to the latest version. */
  binding?: BindingView
  onEnd(): void
}

/** Form to apply a template to a zone, with a preview. */
export function ApplyForm({ template, zoneId, binding, onEnd }: ApplyFormProps) {
  const preview = useSend<PreviewView>({ quiet: true })
  const path = binding ? `/dns/template-bindings/${binding.id}` : `/dns/templates/${template.id}`
  const targetOf = (values: Values) => ({
    ...(!binding && { zone_id: values.zone_id, host: values.host === '' ? '@' : values.host }),
    variables: variablesOf(template.variables, values),
  })
  const blocked = preview.data?.blocked ?? []
  return (
    <Form<ApplyResultView>
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
          ...targetOf(values),
          ...(!binding && { mode: values.mode }),
          ...(blocked.length > 0 && { allow: blocked.map(one => one.code), note: values.note }),
        },
      })}
      send={{
        toast: binding => `${template.name} applied to ${binding.zone}`,
        invalidates: ['/dns/zones', '/dns/templates', '/dns/template-bindings', '/dns/records'],
        onSuccess: onEnd,
      }}
      onCancel={onEnd}
      submitLabel={blocked.length > 0 ? 'Override and apply' : 'Apply template'}
    >
      {!binding && (
        <>
          {zoneId === undefined && <ZoneField />}
          <Columns>
            <TextField name="host" label="Host" mono hint="Name relative to the zone, such as shop. @ is the zone itself." />
            <SelectField
              name="mode"
              label="Mode"
              choices={{ linked: 'Linked: follow template updates', once: 'One-time: ignore template updates' }}
            />
          </Columns>
        </>
      )}
      <VariableFields variables={template.variables} />
      <PreviewButton
        isPending={preview.isPending}
        onPreview={values => preview.mutate({ method: 'POST', path: `${path}/preview`, body: targetOf(values) } satisfies Call)}
      />
      {preview.error && <Problem error={preview.error} />}
      {preview.data && !preview.isPending && <Preview preview={preview.data} />}
      {blocked.length > 0 && (
        <TextField
          name="note"
          label="Reason for the override"
          hint="Overrides all safety checks listed above. Stored in the audit log and the history."
        />
      )}
    </Form>
  )
}

function PreviewButton({ isPending, onPreview }: { isPending: boolean; onPreview(values: Values): void }) {
  const { values } = useForm()
  return (
    <div>
      <Button disabled={isPending} onClick={() => onPreview(values)}>
        {isPending ? 'Loading preview…' : 'Preview changes'}
      </Button>
    </div>
  )
}
