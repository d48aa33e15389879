import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Form, SecretField, TextField } from '../../parts/form'
import { queries, useOne, useSend } from '../../queries'
import { Door } from './frame'

/** The way in; from here to the page that was asked for. */
export default function Login() {
  const navigate = useNavigate()
  const { to }: { to?: string } = useSearch({ strict: false })
  const setup = useOne<{ open: boolean }>('/setup')
  useEffect(() => {
    if (setup.data?.open) void navigate({ to: '/setup', replace: true })
  }, [setup.data])
  const send = useSend({
    quiet: true,
    onDone: () => {
      queries.clear()
      // Of this place alone: a link may not lead people on to another one.
      void navigate({ to: to?.startsWith('/') && !to.startsWith('//') ? to : '/', replace: true })
    },
  })
  return (
    <Door title="Sign in">
      <Form
        plain
        initial={{ email: '', password: '' }}
        call={values => ({ method: 'POST', path: '/sessions', body: values })}
        send={send.mutateAsync}
        pending={send.isPending}
        action="Sign in"
      >
        <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
        <SecretField name="password" label="Password" autoComplete="current-password" />
      </Form>
    </Door>
  )
}
