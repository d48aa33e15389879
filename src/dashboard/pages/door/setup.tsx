import { useNavigate } from '@tanstack/react-router'
import { Form, SecretField, TextField } from '../../parts/form'
import { queries, useSend } from '../../queries'
import { Door } from './frame'

/** The first start: the link that the hub printed makes the owner. */
export default function Setup() {
  const navigate = useNavigate()
  const send = useSend({
    quiet: true,
    onDone: () => {
      queries.clear()
      void navigate({ to: '/' })
    },
  })
  const token = location.hash.slice(1)
  return (
    <Door title="Make the first user" lead="They own this installation and its first workspace.">
      <Form
        plain
        initial={{ token, name: '', email: '', password: '' }}
        call={values => ({ method: 'POST', path: '/setup', body: values })}
        send={send.mutateAsync}
        pending={send.isPending}
        action="Make the user and sign in"
      >
        {token === '' && (
          <TextField name="token" label="Setup token" hint="Part of the link that the hub printed when it started." mono />
        )}
        <TextField name="name" label="Your name" autoComplete="name" autoFocus />
        <TextField name="email" label="E-mail" type="email" autoComplete="username" />
        <SecretField name="password" label="Password" autoComplete="new-password" hint="At least 10 characters." />
      </Form>
    </Door>
  )
}
