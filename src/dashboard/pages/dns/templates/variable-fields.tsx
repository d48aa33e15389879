import { SelectField, TextField, type Values } from '../../../parts/form'
import { valueFor, type Variable } from './template-values'

/** A field for each variable of a template. */
export const VariableFields = ({ variables }: { variables: readonly Variable[] }) =>
  variables.map(({ name, type, values, description, required, default: usual }) => {
    const isFree = usual !== undefined || required === false
    const hint = [description, type !== 'enum' && `Of the type ${type}.`, isFree && usual === undefined && 'May stay empty.']
      .filter(Boolean)
      .join(' ')
    const given = { name: `variables.${name}`, label: name, hint }
    return type === 'enum' ? (
      <SelectField
        key={name}
        {...given}
        choices={[...(usual === undefined ? [['', 'Choose'] as const] : []), ...(values ?? []).map(one => [one, one] as const)]}
      />
    ) : (
      <TextField key={name} {...given} mono {...(usual !== undefined && { placeholder: String(usual) })} />
    )
  })

/** The fields as they begin. @param given values that there are already */
export const variableValues = (variables: readonly Variable[], given: Record<string, unknown> = {}): Values =>
  Object.fromEntries(
    variables.map(({ name, type, default: usual }) => [
      `variables.${name}`,
      String(given[name] ?? (type === 'enum' ? (usual ?? '') : '')),
    ]),
  )

/** What was typed, as the API takes it; what is empty is not told. */
export const variablesOf = (variables: readonly Variable[], values: Values): Record<string, string | number> =>
  Object.fromEntries(
    variables.flatMap(({ name, type }) => {
      const value = valueFor(type, values[`variables.${name}`])
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
