import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { Call } from '../../../client'
import { Form, TextField, type Values } from '../../../parts/form'
import { capitalize } from '../../../parts/status'
import type { SendOptions } from '../../../queries'
import { RowsField, type RowField } from '../../../parts/rows-field'
import { bodyOf, variableTypes, type TemplateRecord, type Variable } from './template-values'

interface TemplateFormProps {
  initial: Values
  /** Builds the request from the body. */
  call(body: Values): Call
  send: SendOptions<TemplateView>
  onCancel(): void
  action: string
}

/** Form for a template: name, variables and records. */
export const TemplateForm = ({ call, action, ...rest }: TemplateFormProps) => (
  <Form {...rest} call={values => call(bodyOf(values))} submitLabel={action}>
    <TextField name="name" label="Name" autoFocus />
    <TextField name="description" label="Description" />
    <RowsField<Variable>
      name="variables"
      label="Variables"
      hint={
        <>
          Values that differ between zones. Records refer to them as <code className="font-mono">{'{{name}}'}</code>;{' '}
          <code className="font-mono">{'{{zone}}'}</code>, <code className="font-mono">{'{{host}}'}</code>, and{' '}
          <code className="font-mono">{'{{fqdn}}'}</code> are always available: the zone, the name in the zone, and the full name.
          Use Allowed values (separated by commas) with the type Choice, and Pattern (a regular expression) with the type Text.
        </>
      }
      fields={variableFields}
      newRow={{ name: '', type: 'string' }}
      addLabel="Add variable"
    />
    <RowsField<TemplateRecord>
      name="records"
      label="Records"
      hint="Names are relative to the host that the template is applied to (@). Values use zone file format. If a record conflicts with existing ones: Fail applies nothing, Skip keeps the existing ones, Replace deletes them, and Merge keeps both. Condition is the name of a variable: without a value for it, the record is not added. When the template is applied again, manual edits of its records are reverted, except for records with Essential set to No."
      fields={recordFields}
      newRow={{ type: 'A', name: '@', content: '', on_conflict: 'fail' }}
      addLabel="Add record"
    />
  </Form>
)

const conflictModes = ['fail', 'skip', 'replace', 'merge'] as const satisfies TemplateRecord['on_conflict'][]
const choicesOf = (words: readonly string[]) => words.map(one => [one, capitalize(one)] as const)
const wholeNumber = /^-?\d{1,15}$/

const variableFields: readonly RowField<Variable>[] = [
  { name: 'name', label: 'Name', width: '11rem' },
  { name: 'type', label: 'Type', width: '8.5rem', choices: Object.entries(variableTypes) },
  {
    name: 'required',
    label: 'Required',
    width: '9.5rem',
    choices: [
      ['', 'If no default'],
      ['true', 'Yes'],
      ['false', 'No'],
    ],
    read: row => (row.required === undefined ? '' : String(row.required)),
    write: text => (text === '' ? undefined : text === 'true'),
  },
  {
    name: 'default',
    label: 'Default',
    width: '10rem',
    read: row => String(row.default ?? ''),
    write: text => (text === '' ? undefined : text),
  },
  {
    name: 'values',
    label: 'Allowed values',
    read: row => (row.values ?? []).join(','),
    write: text => (text === '' ? undefined : text.split(',')),
  },
  { name: 'pattern', label: 'Pattern', width: '9rem' },
  { name: 'description', label: 'Description' },
]

const recordFields: readonly RowField<TemplateRecord>[] = [
  { name: 'name', label: 'Name', width: '9rem' },
  { name: 'type', label: 'Type', width: '6rem' },
  {
    name: 'ttl',
    label: 'TTL',
    width: '5rem',
    read: row => String(row.ttl ?? ''),
    write: text => (text === '' ? undefined : wholeNumber.test(text) ? Number(text) : text),
  },
  { name: 'content', label: 'Value' },
  { name: 'on_conflict', label: 'On conflict', width: '7rem', choices: choicesOf(conflictModes) },
  { name: 'when', label: 'Condition', width: '7rem' },
  {
    name: 'essential',
    label: 'Essential',
    width: '6rem',
    choices: [
      ['true', 'Yes'],
      ['false', 'No'],
    ],
    read: row => String(row.essential ?? true),
    write: text => text === 'true',
  },
]
