/** Asks for the password once more, before something that would outlive the session. */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { asksProof, type Failure, post, toFailure } from '../server/api.ts'
import { moreTexts, t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { Refused } from './states.tsx'

const asked = signal<((isGiven: boolean) => void) | undefined>(undefined)

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

/** Stands once in the frame. */
export function ProofDialog() {
  const answer = asked.value
  return answer ? <Asked answer={answer} /> : null
}

function Asked({ answer }: { answer: (isGiven: boolean) => void }) {
  const [password, setPassword] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      await post('/api/session/', { current_password: password })
      answer(true)
    } catch (error) {
      setFailure(toFailure(error))
      setBusy(false)
    }
  }
  const ofField = failure?.fields['current_password']
  return (
    <Dialog title={t('proof.title')} onClose={() => answer(false)}>
      <form onSubmit={submit} noValidate>
        <p>{t('proof.text')}</p>
        {failure && !ofField && <Refused>{failure.message}</Refused>}
        <Field
          label={t('settings.password.current')}
          type="password"
          autocomplete="current-password"
          value={password}
          onInput={setPassword}
          isRequired
          error={ofField && t('settings.password.wrong')}
        />
        <footer>
          <Button onClick={() => answer(false)}>{t('action.cancel')}</Button>
          <Button kind="main" type="submit" isBusy={isBusy} disabled={password === ''}>
            {t('proof.confirm')}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
