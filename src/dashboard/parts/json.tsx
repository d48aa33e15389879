import { Code } from './code'

/** A JSON value as a code block. */
export const Json = ({ value, label }: { value: unknown; label?: string }) => (
  <Code text={JSON.stringify(value, null, 2)} {...(label !== undefined && { label })} />
)
