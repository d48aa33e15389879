import type { MonitorTypeView } from '../../../features/monitors/shapes'
import { IncidentFields } from '../../parts/channels-field'
import { TextareaField, Columns, Collapsible, NumberField, SelectField, TextField, useForm, ListField } from '../../parts/form'
import { TextWithCode } from '../../parts/text-with-code'
import { OptionFields, schemasOf } from '../../parts/option-fields'
import { PickField } from '../../parts/pick-field'
import { ConditionsField } from './conditions-field'

interface MonitorFieldsProps {
  type: MonitorTypeView
  /** The id of the monitor being edited. */
  id?: string
  secretsSet?: readonly string[]
}

const timing = [
  'interval_seconds',
  'timeout_seconds',
  'retry_interval_seconds',
  'confirm',
  'recover',
  'quorum',
  'recovery_seconds',
]
const quorums = { majority: 'More than half', any: 'Any location', all: 'All locations' }
const alerts = ['severity', 'channel_ids', 'depends_on', 'dependency_grace_seconds']

/** Advanced settings of a monitor, in collapsible sections. */
export function MonitorFields({ type, id, secretsSet }: MonitorFieldsProps) {
  const { values } = useForm()
  const isGroup = type.type === 'group'
  const options = Object.keys(schemasOf(type.options)).map(name => `options.${name}`)
  const set = options.filter(name => values[name] !== undefined)
  return (
    <>
      {isGroup ? (
        <GroupFields type={type} id={id} />
      ) : (
        <>
          <Collapsible label={`${type.title} settings`} names={set}>
            <p className="text-[13px] text-muted">
              <TextWithCode text={type.description} />
            </p>
            <OptionFields schemas={schemasOf(type.options)} secrets={type.secrets} {...(secretsSet && { secretsSet })} />
          </Collapsible>
          <Collapsible label="Conditions" names={['down_if', 'degraded_if', 'degraded_ms']}>
            <p className="text-[13px] text-muted">
              A condition describes a problem, such as <code className="font-mono">[STATUS] &gt;= 500</code>.{' '}
              <a className="text-accent underline" href="/docs/conditions">
                Condition syntax
              </a>
            </p>
            <ConditionsField name="down_if" label="Down if any condition is true" sources={type.sources} />
            <ConditionsField name="degraded_if" label="Degraded if any condition is true" sources={type.sources} />
            <NumberField
              name="degraded_ms"
              label="Degraded if slower than"
              unit="ms"
              min={1}
              hint="Shorter than the timeout. Leave empty for no limit."
            />
          </Collapsible>
        </>
      )}
      <Collapsible label="Timing" names={timing}>
        <Columns>
          <NumberField
            name="interval_seconds"
            label="Interval"
            unit="s"
            min={5}
            hint={
              isGroup
                ? 'How long the group must be degraded before this is reported. Default: 60 s.'
                : 'Time between checks. Default: 60 s, or the shortest interval of your plan.'
            }
          />
          {!isGroup && (
            <>
              <NumberField
                name="timeout_seconds"
                label="Timeout"
                unit="s"
                min={1}
                max={60}
                hint="Maximum duration of a check. Default: 10 s."
              />
              <NumberField
                name="retry_interval_seconds"
                label="Retry interval"
                unit="s"
                min={1}
                hint="Time between checks while a failure or recovery is being confirmed. Default: 15 s."
              />
              <NumberField
                name="confirm"
                label="Failures until down"
                min={1}
                max={20}
                hint="Consecutive failed checks. Default: 2."
              />
              <NumberField
                name="recover"
                label="Successes until up"
                min={1}
                max={20}
                hint="Consecutive successful checks. Default: 2."
              />
            </>
          )}
          {!isGroup && (
            <SelectField
              name="quorum"
              label="Locations until down"
              hint="How many locations must report a failure. Only matters if the monitor is checked from several."
              choices={quorums}
            />
          )}
          <NumberField
            name="recovery_seconds"
            label="Recovery time"
            unit="s"
            min={0}
            hint="How long checks must keep passing before the monitor is up again. Default: 0 s."
          />
        </Columns>
      </Collapsible>
      <Collapsible label="Alerts and dependencies" names={alerts}>
        <IncidentFields />
        <PickField
          list="/monitors"
          name="depends_on"
          label="Depends on"
          hint="Monitors that this one can’t work without, such as its router. While any of them is down, this monitor sends no alerts."
          exclude={id}
        />
        <NumberField
          name="dependency_grace_seconds"
          label="Dependency grace period"
          unit="s"
          min={0}
          hint="How long alerts wait, in case a dependency turns out to be down too. Default: 60 s."
        />
      </Collapsible>
      <Collapsible label="Notes and key" names={['description', 'key']}>
        <TextareaField name="description" label="Notes" hint="What it checks, and what to do if it fails." />
        <TextField name="key" label="Key" mono hint="Optional unique name for scripts and imports." />
      </Collapsible>
    </>
  )
}

function GroupFields({ type, id }: { type: MonitorTypeView; id: string | undefined }) {
  const { values } = useForm()
  return (
    <>
      <PickField list="/monitors" name="options.members" label="Members" hint="Members can be groups, too." exclude={id} />
      <SelectField
        name="options.rule"
        label="Down when"
        hint={<TextWithCode text={schemasOf(type.options).rule?.description ?? ''} />}
        choices={{ any: 'Any member is down', all: 'All members are down', percent: 'A percentage of members is down' }}
      />
      {values['options.rule'] === 'percent' && (
        <NumberField name="options.percent" label="Percentage" unit="%" min={1} max={100} />
      )}
    </>
  )
}

/** The field for tags. */
export const TagsField = () => <ListField name="tags" label="Tags" placeholder="prod, web" />
