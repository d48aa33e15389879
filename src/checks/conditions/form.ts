import { Type, type Static } from '@sinclair/typebox'
import { conditionSources } from '../check'
import { parseCondition } from './condition'
import { ConditionRefused } from './refused'

const Compared = Type.Union([Type.String({ maxLength: 300 }), Type.Number(), Type.Boolean()])

/** A condition with its parts as members, for programs that write them. It is kept, and shown, as its text. */
export const ConditionForm = Type.Object(
  {
    source: Type.Union(
      conditionSources.map(source => Type.Literal(source)),
      { description: 'What to look at.', examples: ['BODY'] },
    ),
    path: Type.Optional(
      Type.String({
        maxLength: 300,
        description: 'Where in the body, as RFC 9535 writes it, or the name of a header field.',
        examples: ['$.items[0].state'],
      }),
    ),
    apply: Type.Optional(
      Type.Union([Type.Literal('len'), Type.Literal('has'), Type.Literal('age')], {
        description: 'Compare its length, whether it is there, or how many milliseconds ago the time was that it names.',
        examples: ['len'],
      }),
    ),
    op: Type.Union(
      (['==', '!=', '<', '<=', '>', '>=', 'contains', 'like', 'matches'] as const).map(op => Type.Literal(op)),
      {
        description:
          'How to compare. `contains` looks for the text in it, `like` holds it against a glob, `matches` looks for a regular expression.',
        examples: ['=='],
      },
    ),
    value: Type.Union([Compared, Type.Array(Compared, { minItems: 1, maxItems: 50 })], {
      description: 'What to compare with; of a list, with `==` and `!=`, one is enough.',
      examples: ['ready'],
    }),
    not: Type.Optional(Type.Boolean({ description: 'The condition holds when the comparison does not.', examples: [false] })),
  },
  { additionalProperties: false },
)
export type ConditionForm = Static<typeof ConditionForm>

/**
 * A condition as its text, whichever way it was given. What stands in a form is never read as anything but the value it is.
 * @throws ConditionRefused
 */
export function conditionText(given: string | ConditionForm): string {
  const text = typeof given === 'string' ? given.trim() : written(given)
  parseCondition(text)
  return text
}

function written({ source, path, apply, op, value, not }: ConditionForm): string {
  const place = `[${source}]${path === undefined || path === '' ? '' : placeOf(source, path)}`
  const left = apply ? `${apply}(${place})` : place
  return `${not ? 'not ' : ''}${left} ${comparison(op, value)}`
}

function placeOf(source: string, path: string): string {
  if (source !== 'BODY' && source !== 'HEADER') throw new ConditionRefused('must have a path only with BODY and HEADER', 0)
  const rest = source === 'BODY' && path.startsWith('$') ? path.slice(1) : path
  return rest === '' || rest.startsWith('.') || rest.startsWith('[') ? rest : `.${rest}`
}

function comparison(op: ConditionForm['op'], value: ConditionForm['value']): string {
  if (Array.isArray(value)) {
    if (op !== '==' && op !== '!=') throw new ConditionRefused(`must have one value beside ${op}`, 0)
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

/** The ways in which Uptime Kuma says what an answer must have. */
export interface Expectation {
  keyword?: string
  /** The keyword must not be there. */
  invert_keyword?: boolean
  json_query?: { path: string; op: '==' | '!=' | '<' | '<=' | '>' | '>=' | 'contains'; expected: string | number | boolean }
}

/**
 * What makes a check fail that expects this, as conditions for `down_if`.
 * @throws ConditionRefused
 */
export function conditionsOf({ keyword, invert_keyword, json_query }: Expectation): string[] {
  const forms: ConditionForm[] = []
  if (keyword !== undefined) forms.push({ source: 'BODY', op: 'contains', value: keyword, not: !invert_keyword })
  if (json_query) forms.push({ source: 'BODY', path: json_query.path, op: json_query.op, value: json_query.expected, not: true })
  return forms.map(conditionText)
}
