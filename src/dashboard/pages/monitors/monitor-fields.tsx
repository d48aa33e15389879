import type { MonitorTypeView } from '../../../features/monitors/definition/shapes'
import { Advanced, Group } from '../../parts/advanced'
import { IncidentFields } from '../../parts/channels-field'
import { Columns, ListField, NumberField, SelectField, TextareaField, TextField, useForm } from '../../parts/form'
import { OptionFields, OptionGroups, schemasOf } from '../../parts/option-fields'
import { PickField } from '../../parts/pick-field'
import { ConditionsField } from './conditions-field'
import { ExpectationFields } from './expectation-fields'
import { groupRules } from './group-rules'
import { hasExpectation } from './monitor-values'

interface MonitorFieldsProps {
  type: MonitorTypeView
  /** The id of the monitor being edited. */
  id?: string
  secretsSet?: readonly string[]
  /** More fields for the group about its place among others. */
  children?: React.ReactNode
}

const quorums = { majority: 'More than half', any: 'Any location', all: 'All locations' }

/** The fields of a monitor other than its target and type. */
export function MonitorFields({ type, id, secretsSet, children }: MonitorFieldsProps) {
  const isGroup = type.type === 'group'
  const isServer = type.type === 'server'
  const options = { schemas: schemasOf(type.options), secrets: type.secrets, ...(secretsSet && { secretsSet }) }
  return (
    <>
      {isGroup ? <GroupFields id={id} /> : <OptionFields {...options} />}
      {hasExpectation(type) && <ExpectationFields />}
      <Advanced>
        {!isGroup && (
          <>
            <OptionGroups {...options} />
            <Group
              label="Conditions"
              contents={isServer ? ['Down if', 'Degraded if'] : ['Down if', 'Degraded if', 'Degraded if slower than']}
            >
              <p className="text-[13px] text-muted">
                A condition describes a problem, such as{' '}
                <code className="font-mono">{isServer ? '[DISK_PERCENT] > 90' : '[STATUS] >= 500'}</code>.{' '}
                <a className="text-accent underline" href="/docs/conditions">
                  Condition syntax
                </a>
              </p>
              <ConditionsField name="down_if" label="Down if any condition is true" sources={type.sources} />
              <ConditionsField name="degraded_if" label="Degraded if any condition is true" sources={type.sources} />
              {!isServer && (
                <NumberField
                  name="degraded_ms"
                  label="Degraded if slower than"
                  unit="ms"
                  min={1}
                  hint="Shorter than the timeout. Leave empty for no limit."
                />
              )}
            </Group>
          </>
        )}
        <Group label="Timing and retries">
          <Columns>
            {!isGroup && (
              <>
                {!isServer && (
                  <NumberField
                    name="timeout_seconds"
                    label="Timeout"
                    unit="seconds"
                    min={1}
                    max={60}
                    placeholder="10"
                    hint="Maximum duration of a check."
                  />
                )}
                <NumberField
                  name="retry_interval_seconds"
                  label="Retry interval"
                  unit="seconds"
                  min={1}
                  placeholder="15"
                  hint="Time between checks while a failure or recovery is being confirmed. The first repeat is after 2 seconds."
                />
                <NumberField
                  name="confirm"
                  label="Failures until down"
                  min={1}
                  max={20}
                  placeholder="2"
                  hint="Consecutive failed checks."
                />
                <NumberField
                  name="recover"
                  label="Successes until up"
                  min={1}
                  max={20}
                  placeholder="2"
                  hint="Consecutive successful checks."
                />
              </>
            )}
            {!isGroup && id !== undefined && (
              <SelectField
                name="quorum"
                label="Locations until down"
                hint="How many locations must report a failure. No effect in this version, which checks from one location."
                choices={quorums}
              />
            )}
            <NumberField
              name="recovery_seconds"
              label="Recovery time"
              unit="seconds"
              min={0}
              placeholder="0"
              hint="How long checks must keep passing before the monitor is up again."
            />
          </Columns>
        </Group>
        <Group label="Alerts and dependencies">
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
            unit="seconds"
            min={0}
            placeholder="60"
            hint="How long alerts wait, in case a dependency turns out to be down too."
          />
        </Group>
        <Group label="Organization">
          {children}
          <TagsField />
          <TextareaField name="description" label="Notes" hint="What it checks, and what to do if it fails." />
          <TextField name="key" label="Key" mono hint="Optional unique name for scripts and imports." />
        </Group>
      </Advanced>
    </>
  )
}

/** Name and interval, next to each other. */
export function NameFields({ type, placeholder = '' }: { type: MonitorTypeView | null; placeholder?: string }) {
  return (
    <Columns>
      <TextField name="name" label="Name" placeholder={placeholder} />
      <NumberField
        name="interval_seconds"
        label="Interval"
        {...(type?.type === 'group' && { hint: 'How long the group must be degraded before it is reported as degraded.' })}
        unit="seconds"
        min={5}
        placeholder="60"
      />
    </Columns>
  )
}

function GroupFields({ id }: { id: string | undefined }) {
  const { values } = useForm()
  return (
    <>
      <PickField list="/monitors" name="options.members" label="Members" hint="Members can be groups, too." exclude={id} />
      <SelectField name="options.rule" label="Down when" choices={groupRules} />
      {values['options.rule'] === 'percent' && (
        <NumberField name="options.percent" label="Percentage" unit="%" min={1} max={100} />
      )}
    </>
  )
}

const TagsField = () => <ListField name="tags" label="Tags" placeholder="e.g. prod, web" />
