import type { MonitorTypeView } from '../../../features/monitors/definition/shapes'
import type { MonitorView } from '../../../features/monitors/shapes'
import type { Values } from '../../parts/form'
import { schemasOf } from '../../parts/option-fields'
import { fieldsOf, mergePatch, optionsFrom } from '../../parts/option-values'
import { changedFields, valuesFor } from '../../parts/values'
import { changedConditions, expectationInput, expectationOf } from './expectation'

/** Initial values of all form fields other than target and options. */
const defaults: Values = {
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
  quorum: 'majority',
  degraded_ms: null,
  down_if: [],
  degraded_if: [],
  severity: 'critical',
  channel_ids: null,
  depends_on: [],
  dependency_grace_seconds: null,
}

/** Form values for the options of a type, with the settings of a monitor. */
export function optionValues(type: MonitorTypeView, options: Record<string, unknown> = {}): Values {
  const fields = Object.entries(schemasOf(type.options)).map(([name, schema]) =>
    fieldsOf(`options.${name}`, schema, options[name]),
  )
  return Object.assign({}, ...fields, type.type === 'group' && { 'options.members': options.members ?? [] })
}

/** Whether forms have fields for what the response must contain. */
export const hasExpectation = (type: MonitorTypeView): boolean => type.type === 'http'

/** Form values for a new or an existing monitor. */
export const monitorValues = (type: MonitorTypeView | null, monitor: MonitorView | null): Values => ({
  ...valuesFor(defaults, monitor),
  ...(monitor?.quorum === 1 && { quorum: 'any' }),
  ...expectationOf(type && hasExpectation(type) && monitor ? monitor.down_if : []),
  ...(monitor && !(type && hasExpectation(type)) && { down_if: monitor.down_if }),
  key: monitor?.key ?? '',
  target: monitor?.target ?? '',
  ...(type && optionValues(type, monitor?.options)),
})

/** Form values of a monitor of the type that has no settings, for one with this interval and these locations. */
export const unsetValues = (type: MonitorTypeView, { interval_seconds: interval, locations }: MonitorView): Values => ({
  ...monitorValues(type, null),
  timeout_seconds: Math.min(10, interval),
  retry_interval_seconds: Math.min(15, interval),
  confirm: 2,
  recover: 2,
  recovery_seconds: locations.length > 1 ? 60 : 0,
  dependency_grace_seconds: 60,
})

/** The API fields of a form, without those that have their default values. */
export function fieldsFrom(values: Values, type: MonitorTypeView | null): Values {
  const options = type ? optionsFrom(schemasOf(type.options), values) : {}
  return {
    ...changedFields(defaults, ownFields(values)),
    ...(type && hasExpectation(type) && expectationInput(values)),
    ...(Object.keys(options).length > 0 && { options }),
  }
}

/** A merge patch (RFC 7396) with the changed fields. @param before the initial form values */
export function patchFrom(before: Values, values: Values, type: MonitorTypeView): Values {
  const { down_if: _, ...changed } = changedFields(ownFields(before), ownFields(values))
  const conditions = changedConditions({ ...before, ...ownFields(before) }, { ...values, ...ownFields(values) })
  const schemas = schemasOf(type.options)
  const options = mergePatch(optionsFrom(schemas, before), optionsFrom(schemas, values))
  return {
    ...changed,
    ...(conditions && { down_if: conditions }),
    ...(changed.key === '' && { key: null }),
    ...(values.target !== before.target && { target: values.target }),
    ...(options && { options }),
  }
}

/** The values of the fields in `defaults`, without empty conditions. */
const ownFields = (values: Values): Values => ({
  ...valuesFor(defaults, values),
  down_if: conditionsOf(values.down_if),
  degraded_if: conditionsOf(values.degraded_if),
})
const conditionsOf = (lines: unknown): string[] => (lines as string[]).filter(one => one.trim() !== '')
