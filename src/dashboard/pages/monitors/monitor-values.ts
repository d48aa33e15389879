import type { MonitorTypeView, MonitorView } from '../../../features/monitors/shapes'
import type { Values } from '../../parts/form'
import { schemasOf } from '../../parts/option-fields'
import { fieldsOf, mergePatch, optionsFrom } from '../../parts/option-values'

/** Members that a form has beside target and options, as they are in a form that nobody touched. */
const untouched: Values = {
  name: '',
  description: '',
  key: '',
  tags: [],
  interval_seconds: null,
  timeout_seconds: null,
  retry_interval_seconds: null,
  confirm: null,
  recover: null,
  recovery_seconds: null,
  degraded_ms: null,
  down_if: [],
  degraded_if: [],
  severity: 'critical',
  channel_ids: null,
  depends_on: [],
  dependency_grace_seconds: null,
}

/** The fields of the options of a type, with what a monitor has set. */
export function optionValues(type: MonitorTypeView, options: Record<string, unknown> = {}): Values {
  const fields = Object.entries(schemasOf(type.options)).map(([name, schema]) =>
    fieldsOf(`options.${name}`, schema, options[name]),
  )
  return Object.assign({}, ...fields, type.type === 'group' && { 'options.members': options.members ?? [] })
}

/** The fields of a form for a new monitor, or for one that there is. */
export function monitorValues(type: MonitorTypeView | null, monitor: MonitorView | null): Values {
  const own = monitor && Object.fromEntries(Object.keys(untouched).map(name => [name, monitor[name as keyof MonitorView]]))
  return {
    ...untouched,
    ...own,
    key: monitor?.key ?? '',
    target: monitor?.target ?? '',
    ...(type && optionValues(type, monitor?.options)),
  }
}

/** The members that a form stands for, but for those that are as in a form that nobody touched. */
export function membersFrom(values: Values, type: MonitorTypeView | null): Values {
  const options = type ? optionsFrom(schemasOf(type.options), values) : {}
  const own = Object.keys(untouched).flatMap(name => {
    const value = valueOf(name, values[name])
    return JSON.stringify(value) === JSON.stringify(untouched[name]) ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(own), ...(Object.keys(options).length > 0 && { options }) }
}

/** What an edit changes (RFC 7396). @param before the fields as they were shown */
export function patchFrom(before: Values, values: Values, type: MonitorTypeView): Values {
  const changed = Object.keys(untouched).flatMap(name => {
    const [was, is] = [valueOf(name, before[name]), valueOf(name, values[name])]
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [[name, is === '' && name === 'key' ? null : is] as const]
  })
  const schemas = schemasOf(type.options)
  const options = mergePatch(optionsFrom(schemas, before), optionsFrom(schemas, values))
  return {
    ...Object.fromEntries(changed),
    ...(values.target !== before.target && { target: values.target }),
    ...(options && { options }),
  }
}

// A condition that was begun and left empty is none.
const valueOf = (name: string, value: unknown): unknown =>
  name === 'down_if' || name === 'degraded_if' ? (value as string[]).filter(one => one.trim() !== '') : value
