import { Type } from '@sinclair/typebox'
import { CheckInputRefused, type CheckType } from '../../checks/check'
import { checkTypeOf, checkTypes } from '../../checks/index'
import { invalid } from '../../core/problem'
import { Shape, Words } from '../../core/shapes'
import { mostMembers, type MonitorTypeView } from './shapes'
import type { monitorTypes } from './tables'

export type MonitorTypeName = (typeof monitorTypes)[number]

/** What a monitor can be: what the checks know, but for running, and groups. */
export type MonitorType = Omit<CheckType, 'name' | 'run'> & { name: MonitorTypeName }

/** How a group is made of its members. */
export type GroupOptions = {
  /** Ids of monitors. */
  members: string[]
  rule: 'any' | 'all' | 'percent'
  percent: number | null
}

const group: MonitorType = {
  name: 'group',
  title: 'Group',
  description: 'Several monitors as one. Nothing is asked: it stands as its members do, by its rule.',
  targetForm: 'empty',
  options: Shape({
    members: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: mostMembers,
      uniqueItems: true,
      default: [],
      description: 'Ids of the monitors it is made of; groups may be among them.',
    }),
    rule: Words(['any', 'all', 'percent'], {
      default: 'any',
      description: 'It is down when any member is, when all are, or when `percent` of them are.',
    }),
    percent: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'With the rule `percent`: how many of a hundred must be down.' }),
    ),
  }),
  secrets: [],
  sources: [],
  target(text) {
    if (text !== '') throw new CheckInputRefused('/target', 'must be empty: a group has members instead.')
    return ''
  },
  refuse(options) {
    const { rule, percent } = options as GroupOptions
    if (rule === 'percent' && percent === undefined)
      throw new CheckInputRefused('/options/percent', 'is required with this rule.')
    if (rule !== 'percent' && percent !== undefined)
      throw new CheckInputRefused('/options/percent', 'goes with the rule `percent` alone.')
  },
}

/** What a monitor of this type takes. @throws Problem 422 at `#/type` for one that this version does not check */
export function monitorTypeOf(name: MonitorTypeName): MonitorType {
  const type = findMonitorType(name)
  if (type) return type
  throw invalid([{ pointer: '#/type', code: 'enum', detail: `is none that this version checks: ${typeNames().join(', ')}.` }])
}

/** The same, undefined for one that this version does not check. */
export const findMonitorType = (name: MonitorTypeName): MonitorType | undefined => (name === 'group' ? group : checkTypeOf(name))

const typeNames = (): string[] => [...checkTypes, group].map(one => one.name)

export const isMonitorType = (name: string): boolean => typeNames().includes(name)

/** Every type, for forms and for people. */
export const listMonitorTypes = (): { data: MonitorTypeView[] } => ({
  data: [...checkTypes, group].map(one => ({
    type: one.name,
    title: one.title,
    description: one.description,
    target: one.name === 'group' ? null : one.targetForm,
    // Without what the schema has for this program alone.
    options: JSON.parse(JSON.stringify(one.options)) as Record<string, unknown>,
    secrets: [...one.secrets],
    sources: [...one.sources],
  })),
})

/** What a type refuses of a target or of options, as the problem of a request. @throws Problem 422 */
export function asProblem<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CheckInputRefused)) throw error
    throw invalid([{ pointer: `#${error.pointer}`, code: 'invalid', detail: error.message }])
  }
}
