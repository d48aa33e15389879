import { Type } from '@sinclair/typebox'
import { InvalidCheckInput, serverSources, type CheckType } from '../../../checks/check'
import { checkTypeOf, checkTypes } from '../../../checks/index'
import { isId } from '../../../core/ids'
import { invalid } from '../../../core/problem'
import { Shape, Words } from '../../../core/shapes'
import { type MonitorTypeView } from './shapes'
import { maxMembers } from '../shapes'
import type { monitorTypes } from '../shapes'

export type MonitorTypeName = (typeof monitorTypes)[number]

/** A type of monitor: a check type, without the code that runs it, a server, or a group. */
export type MonitorType = Omit<CheckType, 'name' | 'run'> & { name: MonitorTypeName }

/** Options of a group. */
export type GroupOptions = {
  /** Ids of monitors. */
  members: string[]
  rule: 'any' | 'all' | 'percent'
  percent: number | null
}

const group: MonitorType = {
  name: 'group',
  title: 'Group',
  description:
    'Combines multiple monitors into one. A group sends no requests: its status follows from its members and its rule.',
  targetDescription: 'empty',
  options: Shape({
    members: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: maxMembers,
      uniqueItems: true,
      default: [],
      description: 'IDs of the monitors in the group. A group can contain other groups.',
    }),
    rule: Words(['any', 'all', 'percent'], {
      default: 'any',
      description: 'The group is down when any member is down, when all are, or when at least `percent` of them are.',
    }),
    percent: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'With the rule `percent`: the percentage of members that must be down.',
      }),
    ),
  }),
  secrets: [],
  sources: [],
  target(text) {
    if (text !== '') throw new InvalidCheckInput('/target', 'must be empty. A group has members instead of a target.')
    return ''
  },
  validate(options) {
    const { rule, percent } = options as GroupOptions
    if (rule === 'percent' && percent === undefined)
      throw new InvalidCheckInput('/options/percent', 'is required with the rule `percent`.')
    if (rule !== 'percent' && percent !== undefined)
      throw new InvalidCheckInput('/options/percent', 'can only be used with the rule `percent`.')
  },
}

const server: MonitorType = {
  name: 'server',
  title: 'Server',
  description:
    'Follows a server. It sends no requests: it is down while the health of the server is down, and its conditions compare what the server uses.',
  targetDescription: 'the ID of a server, such as `srv_01k3z9a1b2c3d4e5f6g7h8j9km`',
  options: Shape({}),
  secrets: [],
  sources: serverSources,
  target(text) {
    if (!isId(text, 'srv'))
      throw new InvalidCheckInput('/target', 'must be the ID of a server, such as `srv_01k3z9a1b2c3d4e5f6g7h8j9km`.')
    return text
  },
}

/** Types that the engine doesn’t run. */
const ownTypes: readonly MonitorType[] = [server, group]

/** @throws Problem 422 at `#/type` for a type this version doesn't support */
export function monitorTypeOf(name: MonitorTypeName): MonitorType {
  const type = findMonitorType(name)
  if (type) return type
  throw invalid([{ pointer: '#/type', code: 'enum', detail: `must be one of ${typeNames().join(', ')}.` }])
}

/** The same, but undefined for a type this version doesn't support. */
export const findMonitorType = (name: MonitorTypeName): MonitorType | undefined =>
  ownTypes.find(one => one.name === name) ?? checkTypeOf(name)

const typeNames = (): string[] => [...checkTypes, ...ownTypes].map(one => one.name)

export const isMonitorType = (name: string): boolean => typeNames().includes(name)

/** All types, for the API and for forms. */
export const listMonitorTypes = (): { data: MonitorTypeView[] } => ({
  data: [...checkTypes, ...ownTypes].map(one => ({
    type: one.name,
    title: one.title,
    description: one.description,
    target: one.name === 'group' ? null : one.targetDescription,
    // Drops symbol keys, which are for internal use.
    options: JSON.parse(JSON.stringify(one.options)) as Record<string, unknown>,
    secrets: [...one.secrets],
    sources: [...one.sources],
  })),
})

/** Turns a target or options that a type rejects into a problem response. @throws Problem 422 */
export function asProblem<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidCheckInput)) throw error
    throw invalid([{ pointer: `#${error.pointer}`, code: 'invalid', detail: error.message }])
  }
}
