import { Link } from '@tanstack/react-router'
import type { WebhookEndpointView } from '../../../features/webhooks/endpoints/shapes'
import { Advanced, Group } from '../../parts/advanced'
import {
  TextareaField,
  CheckboxField,
  Columns,
  FieldFrame,
  Form,
  NumberField,
  SelectField,
  TextField,
  useForm,
  ListField,
  type Values,
} from '../../parts/form'
import { Mono } from '../../parts/code'
import { PickResourcesField } from '../../parts/pick-field'
import { toggled } from '../../parts/choices'
import { Checkbox } from '../../parts/input'
import { labelOf } from '../../parts/labels'
import { TextWithCode } from '../../parts/text-with-code'
import type { SendOptions } from '../../queries'
import { useEventKinds } from './event-kinds'

interface EndpointFormProps<Result> {
  /** The endpoint to edit; undefined to create one. */
  endpoint?: WebhookEndpointView
  send: SendOptions<Result>
  onCancel(): void
}

/** Form to create or edit an endpoint. */
export function EndpointForm<Result>({ endpoint, send, onCancel }: EndpointFormProps<Result>) {
  return (
    <Form
      initial={valuesOf(endpoint)}
      defaults={valuesOf(undefined)}
      call={values => ({
        method: endpoint ? 'PATCH' : 'POST',
        path: endpoint ? `/webhook-endpoints/${endpoint.id}` : '/webhook-endpoints',
        ...(endpoint && { ifMatch: endpoint.version }),
        body: bodyOf(values),
      })}
      send={send}
      onCancel={onCancel}
      submitLabel={endpoint ? 'Save changes' : 'Create endpoint'}
    >
      <TextField name="url" label="URL" type="url" placeholder="https://" autoFocus={!endpoint} />
      <TextField name="description" label="Description" />
      <Kinds subscribed={endpoint?.events ?? []} />
      <CheckboxField
        name="active"
        label="Active"
        hint="While an endpoint is inactive, its deliveries are held. They are sent when you activate it, unless they have expired by then."
      />
      <Advanced>
        <Group label="Retries, rate limit, and order">
          <Columns>
            <NumberField
              name="timeout_seconds"
              label="Timeout"
              unit="s"
              min={1}
              max={30}
              hint="Maximum duration of an attempt, up to 30 s."
            />
            <NumberField
              name="max_per_second"
              label="Maximum attempts per second"
              min={1}
              max={1000}
              hint="Leave empty for no limit."
            />
          </Columns>
          <SelectField
            name="ordering"
            label="Order"
            hint="In order: while a delivery about a resource is being retried, later ones about the same resource wait."
            choices={{ none: 'Unordered', per_resource: 'In order for each resource' }}
          />
          <Retries />
        </Group>
        <Group label="Filters">
          <PickResourcesField
            isSearched={one => one.hasEvents}
            name="filters.resource_ids"
            label="Resources"
            hint="Send only events about these monitors, zones, heartbeats, or other resources. Leave empty for all."
          />
        </Group>
        <Group label="Custom headers">
          <TextareaField
            name="headers"
            label="Headers"
            mono
            rows={3}
            placeholder="e.g. Authorization: Bearer …"
            hint={
              endpoint && endpoint.header_names.length > 0
                ? `One per line. Already set: ${endpoint.header_names.join(', ')}. Enter a name without a value to remove a header.`
                : 'One per line. Values are stored encrypted and not shown again.'
            }
          />
        </Group>
      </Advanced>
    </Form>
  )
}

const valuesOf = (endpoint: WebhookEndpointView | undefined): Values => ({
  url: endpoint?.url ?? '',
  description: endpoint?.description ?? '',
  events: endpoint?.events ?? [],
  active: endpoint?.active ?? true,
  'filters.resource_ids': endpoint?.filters.resource_ids ?? [],
  timeout_seconds: endpoint?.timeout_seconds ?? 15,
  max_per_second: endpoint?.max_per_second ?? null,
  ordering: endpoint?.ordering ?? 'none',
  schedule: endpoint?.retry_schedule === null || !endpoint ? 'standard' : 'own',
  retry_schedule: (endpoint?.retry_schedule ?? []).map(String),
  headers: '',
})

function Retries() {
  const { values } = useForm()
  return (
    <>
      <SelectField
        name="schedule"
        label="Retries"
        choices={{ standard: 'Standard schedule (10 attempts)', own: 'Custom schedule' }}
      />
      {values.schedule === 'own' && (
        <ListField
          name="retry_schedule"
          label="Seconds before each retry"
          placeholder="e.g. 5, 60, 600"
          hint="At most 20 retries within 8 days. Leave empty to disable retries."
        />
      )}
    </>
  )
}

function Kinds({ subscribed }: { subscribed: readonly string[] }) {
  const { values, set } = useForm()
  const kinds = useEventKinds(subscribed)
  const selected = values.events as string[]
  const areas = [...new Set(kinds.map(one => one.area))]
  return (
    <FieldFrame
      name="events"
      label="Events"
      hint={
        <Link to="/events/kinds" target="_blank" className="text-accent underline">
          Examples and JSON Schemas of all events
        </Link>
      }
    >
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
              <legend className="mb-1 text-[13px] font-medium text-muted">{labelOf(area)}</legend>
              {kinds
                .filter(one => one.area === area)
                .map(one => (
                  <Checkbox
                    key={one.kind}
                    multiline
                    className="py-0.5"
                    checked={selected.includes(one.kind)}
                    onCheck={isSelected => set({ events: toggled(selected, one.kind, isSelected) })}
                  >
                    <span>
                      <Mono>{one.kind}</Mono>
                      <span className="block text-[13px] text-muted">
                        <TextWithCode text={one.description} />
                        {!one.available && ' These events can’t occur in this version yet.'}
                      </span>
                    </span>
                  </Checkbox>
                ))}
            </fieldset>
          ))}
        </div>
      )}
    </FieldFrame>
  )
}

function bodyOf(values: Values): Values {
  const resources = values['filters.resource_ids'] as string[]
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
    retry_schedule: values.schedule === 'own' ? (values.retry_schedule as string[]).map(Number) : null,
    ...(Object.keys(headers).length > 0 && { headers }),
  }
}

/** Parses lines of `Name: value`. A name without a value removes the header. */
function headersOf(text: string): Record<string, string | null> {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  return Object.fromEntries(
    lines.map(line => {
      const at = line.indexOf(':')
      return at < 0 ? [line.trim(), null] : [line.slice(0, at).trim(), line.slice(at + 1).trim() || null]
    }),
  )
}
