import type { MonitorTypeView } from '../../../features/monitors/shapes'
import { ChannelsField } from '../../parts/channels-field'
import { AreaField, Columns, More, NumberField, SelectField, TextField, useForm, WordsField } from '../../parts/form'
import { Marked } from '../../parts/marked'
import { OptionFields, schemasOf } from '../../parts/option-fields'
import { PickField } from '../../parts/pick-field'
import { ConditionsField } from './conditions-field'

interface MonitorFieldsProps {
  type: MonitorTypeView
  /** Of the monitor that is edited. */
  id?: string
  secretsSet?: readonly string[]
}

const timing = ['interval_seconds', 'timeout_seconds', 'retry_interval_seconds', 'confirm', 'recover', 'recovery_seconds']
const alerts = ['severity', 'channel_ids', 'depends_on', 'dependency_grace_seconds']

/** Everything of a monitor that few have to set, in parts that open. */
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
          <More label={`${type.title}: what is asked and expected`} names={set}>
            <p className="text-[13px] text-muted">
              <Marked text={type.description} />
            </p>
            <OptionFields schemas={schemasOf(type.options)} secrets={type.secrets} {...(secretsSet && { secretsSet })} />
          </More>
          <More label="Conditions" names={['down_if', 'degraded_if', 'degraded_ms']}>
            <p className="text-[13px] text-muted">
              A condition says what is wrong: <code className="font-mono">[STATUS] &gt;= 500</code>.{' '}
              <a className="text-accent underline" href="/docs/conditions">
                The language of conditions
              </a>
            </p>
            <ConditionsField name="down_if" label="Down when one of these holds" sources={type.sources} />
            <ConditionsField name="degraded_if" label="Degraded when one of these holds" sources={type.sources} />
            <NumberField name="degraded_ms" label="Degraded when slower than" unit="ms" min={1} />
          </More>
        </>
      )}
      <More label="Timing" names={timing}>
        <Columns>
          <NumberField name="interval_seconds" label="Interval" unit="s" min={5} hint="From one check to the next." />
          {!isGroup && (
            <>
              <NumberField name="timeout_seconds" label="Timeout" unit="s" min={1} hint="How long a check may take." />
              <NumberField
                name="retry_interval_seconds"
                label="Interval of retries"
                unit="s"
                min={1}
                hint="While a failure or a recovery is being confirmed."
              />
            </>
          )}
          <NumberField name="confirm" label="Failures that make it down" min={1} max={20} hint="One after the other." />
          <NumberField name="recover" label="Successes that bring it up" min={1} max={20} hint="One after the other." />
          <NumberField name="recovery_seconds" label="Must be well for" unit="s" min={0} hint="Before it counts as recovered." />
        </Columns>
      </More>
      <More label="Alerts and dependencies" names={alerts}>
        <SelectField
          name="severity"
          label="Severity"
          hint="How grave it is when it is down."
          choices={[
            ['critical', 'critical'],
            ['warning', 'warning'],
            ['info', 'info'],
          ]}
        />
        <ChannelsField />
        <PickField
          of="/monitors"
          name="depends_on"
          label="Depends on"
          hint="While one of these is down, it raises no alert of its own: the router in front of it."
          but={id}
        />
        <NumberField
          name="dependency_grace_seconds"
          label="Alerts wait for these"
          unit="s"
          min={0}
          hint="So long, to be found down as well."
        />
      </More>
      <More label="Notes and key" names={['description', 'key']}>
        <AreaField name="description" label="Notes" hint="For people." />
        <TextField name="key" label="Key" mono hint="A name for programs, unique in the workspace: imports find it by this." />
      </More>
    </>
  )
}

function GroupFields({ type, id }: { type: MonitorTypeView; id: string | undefined }) {
  const { values } = useForm()
  return (
    <>
      <PickField of="/monitors" name="options.members" label="Members" hint="Groups may be among them." but={id} />
      <SelectField
        name="options.rule"
        label="Down when"
        hint={<Marked text={schemasOf(type.options).rule?.description ?? ''} />}
        choices={[
          ['any', 'any member is down'],
          ['all', 'all members are down'],
          ['percent', 'so many of a hundred are down'],
        ]}
      />
      {values['options.rule'] === 'percent' && (
        <NumberField name="options.percent" label="So many of a hundred" unit="%" min={1} max={100} />
      )}
    </>
  )
}

/** Tags, which every monitor may have. */
export const TagsField = () => <WordsField name="tags" label="Tags" placeholder="prod, web" />
