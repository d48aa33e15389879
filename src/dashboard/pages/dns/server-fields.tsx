import { Group } from '../../parts/advanced'
import { Columns, NumberField, SecretField, TextField, type Values } from '../../parts/form'

/** Form fields for a name server to transfer a zone from. */
export const ServerFields = () => (
  <Columns>
    <TextField
      name="server.host"
      label="Server"
      hint="Hostname or IP address. The server must allow zone transfers to Bailiwick."
      mono
    />
    <NumberField name="server.port" label="Port" min={1} max={65_535} placeholder="53" />
  </Columns>
)

/** The optional TSIG key for the transfer. For `Advanced`. */
export const KeyFields = () => (
  <Group label="TSIG key">
    <Columns>
      <TextField name="key.name" label="Key name" mono />
      <SecretField name="key.secret" label="Secret" hint="Base64. Used once and not stored." autoComplete="off" />
    </Columns>
  </Group>
)

/** Initial values of the fields. */
export const emptyServer: Values = { 'server.host': '', 'server.port': null, 'key.name': '', 'key.secret': '' }

/** Converts the form values to the body of the import request. */
export const fromServer = (values: Values): Values => ({
  server: { host: values['server.host'], ...(values['server.port'] !== null && { port: values['server.port'] }) },
  ...(values['key.name'] !== '' && { key: { name: values['key.name'], secret: values['key.secret'] } }),
})
