import type { EventKindView } from '../../../features/webhooks/event-kind-shapes'
import type { WebhookEndpointView } from '../../../features/webhooks/shapes'
import type { Call, Page as Listing } from '../../client'
import {
  AreaField,
  CheckField,
  Columns,
  FieldFrame,
  Form,
  More,
  NumberField,
  SelectField,
  TextField,
  useForm,
  WordsField,
  type Values,
} from '../../parts/form'
import { useOne } from '../../queries'

interface EndpointFormProps {
  /** The endpoint to change; a new one when absent. */
  endpoint?: WebhookEndpointView
  send(call: Call): Promise<unknown>
  pending: boolean
  onCancel(): void
}

/** All that an endpoint can be told: where, what, how often, in which order. */
export function EndpointForm({ endpoint, send, pending, onCancel }: EndpointFormProps) {
  const initial: Values = {
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    events: endpoint?.events ?? [],
    active: endpoint?.active ?? true,
    resources: endpoint?.filters.resource_ids ?? [],
    timeout_seconds: endpoint?.timeout_seconds ?? 15,
    max_per_second: endpoint?.max_per_second ?? null,
    ordering: endpoint?.ordering ?? 'none',
    schedule: endpoint?.retry_schedule === null || !endpoint ? 'standard' : 'own',
    retries: (endpoint?.retry_schedule ?? []).map(String),
    headers: '',
  }
  return (
    <Form
      initial={initial}
      call={values => ({
        method: endpoint ? 'PATCH' : 'POST',
        path: endpoint ? `/webhook-endpoints/${endpoint.id}` : '/webhook-endpoints',
        ...(endpoint && { ifMatch: endpoint.version }),
        body: bodyOf(values),
      })}
      send={send}
      pending={pending}
      onCancel={onCancel}
      action={endpoint ? 'Save' : 'Make the endpoint'}
    >
      <TextField name="url" label="URL" type="url" placeholder="https://" autoFocus={!endpoint} />
      <TextField name="description" label="What it is for" />
      <Kinds />
      <CheckField name="active" label="Sends" hint="Paused, what happens is held, and sent when it goes on." />
      <More label="Retries, pace and order" names={['timeout_seconds', 'max_per_second', 'ordering', 'retry_schedule']}>
        <Columns>
          <NumberField name="timeout_seconds" label="A try may take" unit="s" min={1} max={30} />
          <NumberField name="max_per_second" label="Most tries a second" min={1} max={1000} hint="Empty is no limit." />
        </Columns>
        <SelectField
          name="ordering"
          label="Order"
          choices={[
            ['none', 'No message waits for another'],
            ['per_resource', 'Messages about one resource go out in order'],
          ]}
        />
        <Retries />
      </More>
      <More label="Only some resources" names={['filters']}>
        <WordsField
          name="resources"
          label="Ids of resources"
          hint="Only events about these: monitors, zones, heartbeats and others. Empty is all."
        />
      </More>
      <More label="Headers of your own" names={['headers']}>
        <AreaField
          name="headers"
          label="Headers"
          mono
          rows={3}
          placeholder="Authorization: Bearer …"
          hint={
            endpoint && endpoint.header_names.length > 0
              ? `One a line. Kept already: ${endpoint.header_names.join(', ')}. A name alone drops its header.`
              : 'One a line. Values are kept sealed and never shown again.'
          }
        />
      </More>
    </Form>
  )
}

function Retries() {
  const { values } = useForm()
  return (
    <>
      <SelectField
        name="schedule"
        label="Retries"
        choices={[
          ['standard', 'The standard schedule of ten tries'],
          ['own', 'A schedule of its own'],
        ]}
      />
      {values.schedule === 'own' && (
        <WordsField name="retries" label="Seconds before each retry" placeholder="5, 60, 600" hint="Empty never retries." />
      )}
    </>
  )
}

function Kinds() {
  const { values, set } = useForm()
  const { data } = useOne<Listing<EventKindView>>('/event-kinds')
  const chosen = values.events as string[]
  const kinds = data?.data ?? []
  const areas = [...new Set(kinds.map(one => one.area))]
  return (
    <FieldFrame name="events" label="Events">
      {({ id, ...attributes }) => (
        <div
          id={id}
          {...attributes}
          role="group"
          aria-label="Events"
          className="h-72 overflow-y-auto rounded-md border border-strong-line p-3"
        >
          {areas.map(area => (
            <fieldset key={area} className="mb-3 last:mb-0">
              <legend className="mb-1 text-[13px] font-medium text-muted">{area.replaceAll('_', ' ')}</legend>
              {kinds
                .filter(one => one.area === area)
                .map(one => (
                  <label key={one.kind} className="flex items-start gap-2 py-0.5">
                    <input
                      type="checkbox"
                      className="mt-1"
                      checked={chosen.includes(one.kind)}
                      onChange={event =>
                        set({ events: event.target.checked ? [...chosen, one.kind] : chosen.filter(other => other !== one.kind) })
                      }
                    />
                    <span>
                      <code className="font-mono text-[13px]">{one.kind}</code>
                      <span className="block text-[13px] text-muted">{one.description}</span>
                    </span>
                  </label>
                ))}
            </fieldset>
          ))}
        </div>
      )}
    </FieldFrame>
  )
}

function bodyOf(values: Values): Values {
  const resources = values.resources as string[]
  const headers = headersOf(values.headers as string)
  return {
    url: values.url,
    description: values.description,
    events: values.events,
    active: values.active,
    filters: { resource_ids: resources.length > 0 ? resources : null },
    timeout_seconds: values.timeout_seconds,
    max_per_second: values.max_per_second,
    ordering: values.ordering,
    retry_schedule: values.schedule === 'own' ? (values.retries as string[]).map(Number) : null,
    ...(Object.keys(headers).length > 0 && { headers }),
  }
}

/** `Name: value` a line; a name without a value drops the header that is kept under it. */
function headersOf(text: string): Record<string, string | null> {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  return Object.fromEntries(
    lines.map(line => {
      const at = line.indexOf(':')
      return at < 0 ? [line.trim(), null] : [line.slice(0, at).trim(), line.slice(at + 1).trim() || null]
    }),
  )
}
