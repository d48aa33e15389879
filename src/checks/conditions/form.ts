import { Type, type Static } from '@sinclair/typebox'
import { conditionSources } from '../check'
import { parseCondition } from './condition'
import { InvalidCondition } from './invalid-condition'
import { withDevice } from './operand'

const Compared = Type.Union([Type.String({ maxLength: 300 }), Type.Number(), Type.Boolean()])

/** A condition as an object, for API clients. It is stored and returned as text. */
export const ConditionForm = Type.Object(
  {
    source: Type.Union(
      conditionSources.map(source => Type.Literal(source)),
      { description: 'Source of the value to compare.', examples: ['BODY'] },
    ),
    path: Type.Optional(
      Type.String({
        maxLength: 300,
        description:
          'With `BODY`: JSONPath of the value (RFC 9535). With `HEADER`: name of the header. With `DISK_PERCENT`, `DISK_HOURS_LEFT`, `INODES_PERCENT`, `TEMPERATURE`, and `SMART_FAILING`: the file system, sensor, or disk. With `UNIT`, `CONTAINER`, and `PROCESS`: the name, which is required.',
        examples: ['$.items[0].state'],
      }),
    ),
    function: Type.Optional(
      Type.Union([Type.Literal('len'), Type.Literal('has'), Type.Literal('age')], {
        description:
          'Function to apply first: `len` (length), `has` (whether the value exists), or `age` (milliseconds since the time in the value).',
        examples: ['len'],
      }),
    ),
    op: Type.Union(
      (['==', '!=', '<', '<=', '>', '>=', 'contains', 'like', 'matches'] as const).map(op => Type.Literal(op)),
      {
        description:
          'Comparison. `contains`: the value contains the text. `like`: it matches a glob pattern, such as `192.168.*`. `matches`: it matches a regular expression (RE2).',
        examples: ['=='],
      },
    ),
    value: Type.Union([Compared, Type.Array(Compared, { minItems: 1, maxItems: 50 })], {
      description: 'Value to compare with. With `==` and `!=`, this can be a list; one item must match.',
      examples: ['ready'],
    }),
    not: Type.Optional(Type.Boolean({ description: 'Whether to negate the comparison. Default: false.', examples: [false] })),
  },
  { additionalProperties: false },
)
export type ConditionForm = Static<typeof ConditionForm>

/**
 * Returns a condition as text, whether it was given as text or as an object. Values in an object are always taken literally.
 * @throws InvalidCondition
 */
export function conditionText(condition: string | ConditionForm): string {
  const text = typeof condition === 'string' ? condition.trim() : textOf(condition)
  parseCondition(text)
  return text
}

function textOf({ source, path, function: apply, op, value, not }: ConditionForm): string {
  const operand = `[${source}]${path === undefined || path === '' ? '' : pathOf(source, path)}`
  const left = apply ? `${apply}(${operand})` : operand
  return `${not ? 'not ' : ''}${left} ${comparison(op, value)}`
}

function pathOf(source: string, path: string): string {
  if (withDevice.some(one => one === source)) {
    const device = `.${/[\s")]/.test(path) ? JSON.stringify(path) : path}`
    return source === 'PROCESS' ? `${device}.count` : device
  }
  if (source !== 'BODY' && source !== 'HEADER')
    throw new InvalidCondition(`must have a path only with the sources BODY, HEADER, ${withDevice.join(', ')}`, 0)
  const rest = source === 'BODY' && path.startsWith('$') ? path.slice(1) : path
  return rest === '' || rest.startsWith('.') || rest.startsWith('[') ? rest : `.${rest}`
}

function comparison(op: ConditionForm['op'], value: ConditionForm['value']): string {
  if (Array.isArray(value)) {
    if (op !== '==' && op !== '!=') throw new InvalidCondition(`must have a single value with ${op}`, 0)
    return `${op} any(${value.map(literal).join(', ')})`
  }
  if (op === 'contains') return `== pat(*${asGlob(String(value))}*)`
  if (op === 'like') return `== pat(${value})`
  if (op === 'matches') return `== regex(${value})`
  return `${op} ${literal(value)}`
}

const literal = (value: string | number | boolean): string =>
  /^[\p{L}\p{N}_.:/+@-]+(?: [\p{L}\p{N}_.:/+@-]+)*$/u.test(String(value)) ? String(value) : JSON.stringify(String(value))

const asGlob = (text: string): string => text.replace(/[\\*?[]/g, '\\$&')

/** Expectations for a response in the style of Uptime Kuma. */
export interface Expectation {
  keyword?: string
  /** The keyword must be absent. */
  invert_keyword?: boolean
  json_query?: { path: string; op: '==' | '!=' | '<' | '<=' | '>' | '>=' | 'contains'; expected: string | number | boolean }
}

/**
 * The conditions for `down_if` that fail a check without the expected response.
 * @throws InvalidCondition
 */
export function conditionsOf({ keyword, invert_keyword, json_query }: Expectation): string[] {
  const forms: ConditionForm[] = []
  if (keyword !== undefined) forms.push({ source: 'BODY', op: 'contains', value: keyword, not: !invert_keyword })
  if (json_query) forms.push({ source: 'BODY', path: json_query.path, op: json_query.op, value: json_query.expected, not: true })
  return forms.map(conditionText)
}
