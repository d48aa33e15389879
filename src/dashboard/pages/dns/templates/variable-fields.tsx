import { SelectField, TextField, type Values } from '../../../parts/form'
import { valueFor, variableTypes, type Variable } from './template-values'

/** One form field per variable of a template. */
export const VariableFields = ({ variables }: { variables: readonly Variable[] }) =>
  variables.map(({ name, type, values, description, required, default: fallback }) => {
    const isOptional = fallback !== undefined || required === false
    const hint = [
      description,
      type !== 'enum' && `Type: ${variableTypes[type]}.`,
      isOptional && fallback === undefined && 'Optional.',
    ]
      .filter(Boolean)
      .join(' ')
    const attributes = { name: `variables.${name}`, label: name, hint }
    return type === 'enum' ? (
      <SelectField
        key={name}
        {...attributes}
        choices={[
          ...(fallback === undefined ? [['', 'Choose'] as const] : []),
          ...(values ?? []).map(one => [one, one] as const),
        ]}
      />
    ) : (
      <TextField key={name} {...attributes} mono {...(fallback !== undefined && { placeholder: String(fallback) })} />
    )
  })

/** Initial form values. @param values existing variable values */
export const variableValues = (variables: readonly Variable[], values: Record<string, unknown> = {}): Values =>
  Object.fromEntries(
    variables.map(({ name, type, default: fallback }) => [
      `variables.${name}`,
      String(values[name] ?? (type === 'enum' ? (fallback ?? '') : '')),
    ]),
  )

/** Converts form values to API variables. Empty values are omitted. */
export const variablesOf = (variables: readonly Variable[], values: Values): Record<string, string | number> =>
  Object.fromEntries(
    variables.flatMap(({ name, type }) => {
      const value = valueFor(type, values[`variables.${name}`])
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
