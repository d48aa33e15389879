import { AreaField, CheckField, NumberField, SecretField, SelectField, TextField, useForm } from './form'
import { Marked } from './marked'
import { wordsOf } from './status'
import { kindOf, membersOfVariant, variantOf, variantsOf, type OptionSchema } from './option-values'

interface OptionFieldsProps {
  /** What the API tells of each, by name. */
  schemas: Record<string, OptionSchema>
  /** Which of them are secret, as paths: `auth/password`, `/secret_headers/*`. */
  secrets: readonly string[]
  /** Which secrets are set, as such paths. */
  secretsSet?: readonly string[]
  /** The member that they are below: `options`, `settings`. */
  at?: string
}

/** The schemas of the members of an object, by name: of a type's options, of a kind's settings. */
export const schemasOf = (schema: { properties?: unknown }): Record<string, OptionSchema> =>
  (schema.properties ?? {}) as Record<string, OptionSchema>

/** Options of a type or settings of a kind, drawn from what the API tells of them. */
export function OptionFields({ schemas, secrets, secretsSet = [], at = 'options' }: OptionFieldsProps) {
  const known = { paths: secrets.map(one => one.replace(/^\//, '')), set: secretsSet }
  return Object.entries(schemas).map(([name, schema]) => (
    <OptionField key={name} at={at} path={name} schema={schema} secrets={known} />
  ))
}

interface Secrets {
  /** As JSON pointers below the options, without the first slash: `auth/password`, `secret_headers/*`. */
  paths: readonly string[]
  set: readonly string[]
}

interface OptionFieldProps {
  at: string
  /** Below the options, with dots: `auth.password`. */
  path: string
  schema: OptionSchema
  secrets: Secrets
}

function OptionField({ at, path, schema, secrets }: OptionFieldProps) {
  const name = `${at}.${path}`
  const label = labelOf(path)
  const pointer = path.replaceAll('.', '/')
  const isSecret = secrets.paths.includes(pointer) || secrets.paths.includes(`${pointer}/*`)
  const kept = secrets.set.filter(one => one === pointer || one.startsWith(`${pointer}/`))
  const keeps =
    kept.length === 0 ? '' : kept[0] === pointer ? ' It is set; empty keeps it.' : ` Set: ${kept.map(lastOf).join(', ')}.`
  const hint = hintOf(schema) + (isSecret ? keeps : '')
  const given = { name, label, hint: <Marked text={hint} /> }
  switch (kindOf(schema)) {
    case 'check':
      return <CheckField {...given} />
    case 'number':
      return (
        <NumberField
          {...given}
          {...(schema.minimum !== undefined && { min: schema.minimum })}
          {...(schema.maximum !== undefined && { max: schema.maximum })}
        />
      )
    case 'choice':
      return (
        <SelectField
          {...given}
          choices={[
            ...(schema.default === undefined ? [['', 'As it comes'] as const] : []),
            ...schema.anyOf!.map(one => [String(one.const), String(one.const)] as const),
          ]}
        />
      )
    case 'lines':
      return <AreaField {...given} rows={3} mono hint={<Marked text={`${hint} One a line.`} />} />
    case 'pairs':
      return <AreaField {...given} rows={3} mono hint={<Marked text={`${hint} One a line, as «Name: value».`} />} />
    case 'area':
    case 'json':
      return <AreaField {...given} rows={4} mono />
    case 'parts':
      return (
        <fieldset className="flex flex-col gap-3 border-l-2 border-line pl-3">
          <legend className="mb-1 font-medium">{label}</legend>
          {schema.description && (
            <p className="text-[13px] text-muted">
              <Marked text={schema.description} />
            </p>
          )}
          {Object.entries(schema.properties!).map(([member, inner]) => (
            <OptionField key={member} at={at} path={`${path}.${member}`} schema={inner} secrets={secrets} />
          ))}
        </fieldset>
      )
    case 'variants':
      return <Variants at={at} path={path} schema={schema} secrets={secrets} />
    case 'text':
      return isSecret ? <SecretField {...given} autoComplete="off" /> : <TextField {...given} mono />
  }
}

function Variants({ at, path, schema, secrets }: OptionFieldProps) {
  const { values } = useForm()
  const name = `${at}.${path}.${schema['x-discriminator']}`
  const variant = variantOf(schema, String(values[name] ?? ''))
  return (
    <>
      <SelectField
        name={name}
        label={labelOf(path)}
        hint={<Marked text={schema.description ?? ''} />}
        choices={[['', 'None'], ...variantsOf(schema)]}
      />
      {variant && (
        <div className="flex flex-col gap-3 border-l-2 border-line pl-3">
          {membersOfVariant(schema, variant).map(([member, inner]) => (
            <OptionField key={member} at={at} path={`${path}.${member}`} schema={inner} secrets={secrets} />
          ))}
        </div>
      )}
    </>
  )
}

/** The last member of a path as a label: `auth.client_id` is «Client id». */
function labelOf(path: string): string {
  const words = wordsOf(path.slice(path.lastIndexOf('.') + 1)).replace(shortForms, form => form.toUpperCase())
  return words[0]!.toUpperCase() + words.slice(1)
}

// What is said letter by letter is written so.
const shortForms = /\b(?:api|ca|dns|id|ip|mx|tls|ttl|url)\b/g

const lastOf = (pointer: string): string => pointer.slice(pointer.lastIndexOf('/') + 1)

function hintOf({ description = '', examples }: OptionSchema): string {
  const [example] = examples ?? []
  return example !== undefined && typeof example !== 'object' ? `${description} Such as ${String(example)}.` : description
}
