import { FieldFrame, useForm } from '../../parts/form'
import { Input, Select } from '../../parts/input'
import { operatorLabels } from './expectation'

/** Fields for what the response of a website must contain. */
export function ExpectationFields() {
  const { values, set } = useForm()
  // An edit sends both as conditions after the others.
  const others = (values.down_if as string[]).filter(one => one.trim() !== '').length
  const queryAt = others + (values.keyword === '' ? 0 : 1)
  const input = (name: string) => ({ value: String(values[name]), onText: (text: string) => set({ [name]: text }) })
  return (
    <>
      <FieldFrame
        name="keyword"
        label="Keyword"
        also={values.keyword === '' ? [] : [`down_if.${others}`]}
        reads={['keyword', 'keyword_rule']}
      >
        {attributes => (
          <div className="flex flex-wrap gap-2 sm:flex-nowrap">
            <Input {...attributes} placeholder="e.g. Welcome" {...input('keyword')} className="h-9 grow basis-48" />
            <Select
              aria-label="Keyword must be"
              {...input('keyword_rule')}
              choices={{ present: 'must be present', absent: 'must be absent' }}
              className="h-9 sm:max-w-44"
            />
          </div>
        )}
      </FieldFrame>
      <FieldFrame
        name="json_query"
        label="JSON query"
        hint="For JSON responses: the path (JSONPath) of a value, and the value to expect."
        also={[`down_if.${queryAt}`]}
        reads={['json_query.path', 'json_query.op', 'json_query.expected']}
      >
        {attributes => (
          <div className="flex flex-wrap gap-2 sm:flex-nowrap">
            <Input {...attributes} {...input('json_query.path')} mono placeholder="e.g. $.status" className="h-9 grow basis-48" />
            <Select aria-label="Comparison" {...input('json_query.op')} choices={operatorLabels} className="h-9 sm:max-w-44" />
            <Input
              aria-label="Expected value"
              {...input('json_query.expected')}
              mono
              placeholder="e.g. ok"
              className="h-9 grow sm:max-w-44"
            />
          </div>
        )}
      </FieldFrame>
    </>
  )
}
