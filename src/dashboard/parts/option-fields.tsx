import { TextareaField, CheckboxField, NumberField, SecretField, SelectField, TextField, useForm } from './form'
import { TextWithCode } from './text-with-code'
import { TimezoneField } from './timezone-field'
import { capitalize, humanize } from './status'
import { kindOf, fieldsOfVariant, variantOf, variantsOf, type OptionSchema } from './option-values'

interface OptionFieldsProps {
  /** JSON Schema of each option, by name. */
  schemas: Record<string, OptionSchema>
  /** Paths of secret options: `auth/password`, `/secret_headers/*`. */
  secrets: readonly string[]
  /** Paths of secrets that are set. */
  secretsSet?: readonly string[]
  /** Parent field of the options: `options` or `settings`. */
  prefix?: string
}

/** Returns the schemas of an object's properties, by name. */
export const schemasOf = (schema: { properties?: unknown }): Record<string, OptionSchema> =>
  (schema.properties ?? {}) as Record<string, OptionSchema>

/** Fields for the options of a check type or the settings of a channel or provider kind, generated from their JSON Schema. */
export function OptionFields({ schemas, secrets, secretsSet = [], prefix = 'options' }: OptionFieldsProps) {
  const known = { paths: secrets.map(one => one.replace(/^\//, '')), set: secretsSet }
  return Object.entries(schemas).map(([name, schema]) => (
    <OptionField key={name} parent={prefix} path={name} schema={schema} secrets={known} />
  ))
}

interface Secrets {
  /** JSON pointers relative to the options, without leading slash: `auth/password`, `secret_headers/*`. */
  paths: readonly string[]
  set: readonly string[]
}

interface OptionFieldProps {
  parent: string
  /** Path relative to the options: `auth.password`. */
  path: string
  schema: OptionSchema
  secrets: Secrets
  /** Required within its object, so it has no default. */
  required?: boolean
}

function OptionField({ parent, path, schema, secrets, required = false }: OptionFieldProps) {
  const name = `${parent}.${path}`
  const label = schema.title ?? labelOf(path)
  const pointer = path.replaceAll('.', '/')
  const isSecret = secrets.paths.includes(pointer) || secrets.paths.includes(`${pointer}/*`)
  const stored = secrets.set.filter(one => one === pointer || one.startsWith(`${pointer}/`))
  const storedHint =
    stored.length === 0
      ? ''
      : stored[0] === pointer
        ? ' Already set. Leave empty to keep it.'
        : ` Already set: ${stored.map(lastSegment).join(', ')}.`
  const hint = (hintOf(schema, label) + (isSecret ? storedHint : '')).trim()
  const field = { name, label, ...(hint !== '' && { hint: <TextWithCode text={hint} /> }) }
  if (schema.format === 'timezone') return <TimezoneField {...field} />
  const kind = kindOf(schema)
  switch (kind) {
    case 'check':
      return <CheckboxField {...field} />
    case 'number':
      return (
        <NumberField
          {...field}
          {...(schema.minimum !== undefined && { min: schema.minimum })}
          {...(schema.maximum !== undefined && { max: schema.maximum })}
        />
      )
    case 'choice':
      return (
        <SelectField
          {...field}
          choices={[
            ...(schema.default === undefined ? [['', required ? 'Select…' : 'Default'] as const] : []),
            ...schema.anyOf!.map(one => [String(one.const), choiceLabel(path, String(one.const))] as const),
          ]}
        />
      )
    case 'lines':
    case 'pairs': {
      const format = kind === 'lines' ? 'One per line.' : 'One per line, as `Name: value`.'
      return <TextareaField {...field} rows={3} mono hint={<TextWithCode text={`${hint} ${format}`.trim()} />} />
    }
    case 'area':
    case 'json':
      return <TextareaField {...field} rows={4} mono />
    case 'object':
      return (
        <fieldset className="flex flex-col gap-3 border-l-2 border-line pl-3">
          <legend className="mb-1 font-medium">{label}</legend>
          {schema.description && (
            <p className="text-[13px] text-muted">
              <TextWithCode text={schema.description} />
            </p>
          )}
          {Object.entries(schema.properties!).map(([name, inner]) => (
            <OptionField
              key={name}
              parent={parent}
              path={`${path}.${name}`}
              schema={inner}
              secrets={secrets}
              required={schema.required?.includes(name) ?? false}
            />
          ))}
        </fieldset>
      )
    case 'variants':
      return <Variants parent={parent} path={path} schema={schema} secrets={secrets} />
    case 'text':
      return isSecret ? <SecretField {...field} autoComplete="off" /> : <TextField {...field} mono />
  }
}

function Variants({ parent, path, schema, secrets }: OptionFieldProps) {
  const { values } = useForm()
  const name = `${parent}.${path}.${schema['x-discriminator']}`
  const variant = variantOf(schema, String(values[name] ?? ''))
  return (
    <>
      <SelectField
        name={name}
        label={labelOf(path)}
        hint={<TextWithCode text={schema.description ?? ''} />}
        choices={[['', 'None'], ...variantsOf(schema)]}
      />
      {variant && (
        <div className="flex flex-col gap-3 border-l-2 border-line pl-3">
          {fieldsOfVariant(schema, variant).map(([name, inner]) => (
            <OptionField key={name} parent={parent} path={`${path}.${name}`} schema={inner} secrets={secrets} />
          ))}
        </div>
      )}
    </>
  )
}

const tlsLabels: Record<string, string> = {
  implicit: 'Implicit TLS',
  starttls: 'STARTTLS (required)',
  opportunistic: 'STARTTLS if available',
  none: 'None (unencrypted)',
}

/** Returns the label of a choice, by default its value. */
const choiceLabel = (path: string, value: string): string => (/(?:^|\.)tls$/.test(path) ? tlsLabels[value] : undefined) ?? value

/** Returns the label of a field: `auth.client_id` becomes “Client ID”. */
export function labelOf(path: string): string {
  return capitalize(
    humanize(path.slice(path.lastIndexOf('.') + 1))
      .replace(abbreviations, word => word.toUpperCase())
      .replace(/ (ms|bytes|percent)$/, ' ($1)')
      .replace('sha256', 'SHA-256')
      .replace(/\bauth\b/, 'authentication')
      .replace(/\bcert\b/, 'certificate')
      .replace('timezone', 'time zone')
      .replace(/\bdont\b/, 'don’t'),
  )
}

// Abbreviations to write in capitals.
const abbreviations = /\b(?:api|ca|dns|dnssec|http|id|ip|mx|ns|ssh|starttls|tls|ttl|url)\b/g

const lastSegment = (pointer: string): string => pointer.slice(pointer.lastIndexOf('/') + 1)

/** Returns the description and an example, without a first sentence that only repeats the label. */
function hintOf({ description = '', examples }: OptionSchema, label: string): string {
  const rest = description.slice(label.length)
  const isRepeated = description.toLowerCase().startsWith(label.toLowerCase()) && /^[.:]($|\s)/.test(rest)
  const text = isRepeated ? capitalize(rest.slice(1).trim()) : description
  const [example] = examples ?? []
  return example !== undefined && typeof example !== 'object' ? `${text} Example: ${String(example)}`.trim() : text
}
