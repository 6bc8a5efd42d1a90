/** Asks for the password again before an action whose effect outlasts the session. */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { asksProof, post, whenOver } from '../server/api.ts'
import { moreTexts, t } from '../texts/lookup.ts'
import { Dialog } from './dialog.tsx'
import { OwnPassword } from './field.tsx'
import { Form, FormButtons, useForm } from './form.tsx'

const asked = signal<((isGiven: boolean) => void) | undefined>(undefined)
whenOver(() => asked.peek()?.(false))

asksProof.now = async () => {
  await moreTexts()
  return new Promise((resolve) => {
    asked.value?.(false)
    asked.value = (isGiven) => {
      asked.value = undefined
      resolve(isGiven)
    }
  })
}

/** Rendered once in the frame. */
export function ProofDialog() {
  const answer = asked.value
  return answer ? <Asked answer={answer} /> : null
}

function Asked({ answer }: { answer: (isGiven: boolean) => void }) {
  const [password, setPassword] = useState('')
  const form = useForm({ current_password: { refused: t('settings.password.wrong') } })
  const submit = async () => {
    await post('/api/session/', { current_password: password })
    answer(true)
  }
  return (
    <Dialog title={t('proof.title')} onClose={() => answer(false)}>
      <Form form={form} onSubmit={submit}>
        <p>{t('proof.text')}</p>
        {form.refusal}
        <OwnPassword
          label={t('settings.password.current')}
          value={password}
          onInput={setPassword}
          error={form.errors.current_password}
        />
        <footer>
          <FormButtons action={t('proof.confirm')} disabled={password === ''} onCancel={() => answer(false)} />
        </footer>
      </Form>
    </Dialog>
  )
}
