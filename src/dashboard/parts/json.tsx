import { Code } from './code'

/** A value as the API has it, to read and to copy. */
export const Json = ({ value, label }: { value: unknown; label?: string }) => (
  <Code text={JSON.stringify(value, null, 2)} {...(label !== undefined && { label })} />
)
