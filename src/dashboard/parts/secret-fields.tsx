import { SelectField } from './form'

/** How long the old and the new signing secret both work. */
export const OverlapField = () => (
  <SelectField
    name="overlap_seconds"
    label="Overlap"
    hint="How long messages are signed with both secrets, so that you can update the receiver."
    choices={[
      ['3600', '1 hour'],
      ['86400', '1 day'],
      ['604800', '1 week'],
      ['0', 'None: the old secret expires immediately'],
    ]}
  />
)
