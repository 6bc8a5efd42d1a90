/** The account's authenticator app: set up with the password, enabled by a code, and disabled by both. */
import { Copy } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { hereNow } from '../../browser/router.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { confirm } from '../../parts/dialog.tsx'
import { Field, OwnPassword } from '../../parts/field.tsx'
import { Form, useForm } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { QrPicture } from '../../parts/qr-picture.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, put, remove } from '../../server/api.ts'
import type { NewTotp, RecoveryCodes, TotpState } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { needsSecondFactor, readSession } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

export function TotpOfOwn() {
  const state = useLoad<TotpState>('settings/totp', (signal) => get('/api/totp/', {}, signal))
  const [begun, setBegun] = useState<NewTotp>()
  const [recovery, setRecovery] = useState<readonly string[]>()
  const begin = async (password: string) => setBegun(await post<NewTotp>('/api/totp/', { current_password: password }))
  const enable = async (code: string) => {
    const isHere = hereNow()
    const { recovery_codes: codes } = await put<RecoveryCodes>('/api/totp/', { code })
    if (isHere()) setRecovery(codes)
    else showAnywhere(codes)
    setBegun(undefined)
    await Promise.all([state.reload(), readSession()])
    say(t('settings.totp.enabled'))
  }
  const disable = async (password: string, code: string) => {
    await remove('/api/totp/', { body: { current_password: password, code } })
    setRecovery(undefined)
    await Promise.all([state.reload(), readSession()])
    say(t('settings.totp.disabled'))
  }
  return (
    <Group title={t('settings.totp')} hint={t('settings.totp.hint')}>
      {needsSecondFactor.value && <p class="notice">{t('settings.totp.needed')}</p>}
      <Loaded from={state}>
        {({ enabled, recovery_codes: left }) => (
          <>
            {recovery && <Recovery codes={recovery} />}
            {enabled ? (
              <Factors key="on" asks={['password', 'code']} action={t('settings.totp.disable')} onGiven={disable}>
                <p>{t('settings.totp.on', { count: left })}</p>
              </Factors>
            ) : begun ? (
              <Factors
                key="begun"
                asks={['code']}
                action={t('settings.totp.enable')}
                onGiven={(_, code) => enable(code)}
              >
                <p>{t('settings.totp.add')}</p>
                <QrPicture label={t('settings.totp.picture')} text={begun.uri} />
                <output class="code-block">{begun.secret.match(/.{1,4}/g)!.join(' ')}</output>
                <a href={begun.uri}>{t('settings.totp.link')}</a>
              </Factors>
            ) : (
              <Factors key="off" asks={['password']} action={t('settings.totp.begin')} onGiven={begin} />
            )}
          </>
        )}
      </Loaded>
    </Group>
  )
}

/** Shows the codes in a dialog if the person has left this view, because the server sends them only once. */
function showAnywhere(codes: readonly string[]): void {
  const text = <Recovery codes={codes} />
  void confirm({ title: t('settings.totp.enabled'), text, action: t('action.done') })
}

function Recovery({ codes }: { codes: readonly string[] }) {
  return (
    <div class="option-form" role="status">
      <p>{t('settings.totp.keep')}</p>
      <output class="code-block">
        {codes.map((code) => (
          <div key={code}>{code}</div>
        ))}
      </output>
      <div>
        <Button icon={Copy} onClick={() => copyText(codes.join('\n'))}>
          {t('settings.copy')}
        </Button>
      </div>
    </div>
  )
}

/** Asks for the password, a code, or both. */
export function Factors({
  asks,
  action,
  onGiven,
  children,
}: {
  asks: ReadonlyArray<'password' | 'code'>
  action: string
  onGiven: (password: string, code: string) => Promise<void>
  children?: ComponentChildren
}) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const missing = (what: 'password' | 'code', value: string) =>
    asks.includes(what) && value === '' && t('form.required')
  const form = useForm({
    current_password: { wrong: missing('password', password), refused: t('settings.password.wrong') },
    code: { wrong: missing('code', code), refused: true },
  })
  return (
    <Form form={form} class="option-form" onSubmit={() => onGiven(password, code)}>
      {children}
      {form.refusal}
      {asks.includes('password') && (
        <OwnPassword
          label={t('settings.totp.password')}
          value={password}
          onInput={setPassword}
          error={form.errors.current_password}
        />
      )}
      {asks.includes('code') && (
        <Field
          label={t('settings.totp.code')}
          autocomplete="one-time-code"
          value={code}
          onInput={setCode}
          isRequired
          error={form.errors.code}
        />
      )}
      <div>
        <Button type="submit">{action}</Button>
      </div>
    </Form>
  )
}
