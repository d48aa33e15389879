import { Columns, More, NumberField, SecretField, TextField, type Values } from '../../parts/form'

/** A name server that transfers a zone, with the key that it asks for. */
export const ServerFields = () => (
  <>
    <Columns>
      <TextField name="server.host" label="Server" hint="Name or address. It has to let this hub transfer the zone." mono />
      <NumberField name="server.port" label="Port" min={1} max={65_535} placeholder="53" />
    </Columns>
    <More label="TSIG key" names={['key.name', 'key.secret', 'key.algorithm']}>
      <Columns>
        <TextField name="key.name" label="Name of the key" mono />
        <SecretField name="key.secret" label="Secret" hint="Base64. It is used once and not kept." autoComplete="off" />
      </Columns>
    </More>
  </>
)

/** Their values as the import takes them. */
export const fromServer = (values: Values): Values => ({
  server: { host: values['server.host'], ...(values['server.port'] !== null && { port: values['server.port'] }) },
  ...(values['key.name'] !== '' && { key: { name: values['key.name'], secret: values['key.secret'] } }),
})
