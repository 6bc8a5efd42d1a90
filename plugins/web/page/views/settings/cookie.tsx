/**
 * The cookie of an account at the platform: taken in, tried, switched off, forgotten. Its text is never shown again.
 */

import { ShieldCheck, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say, sayFailure } from '../../parts/toast.tsx'
import { get, post, put, remove, toFailure } from '../../server/api.ts'
import type { CookieStatus, CookieValidated } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toMoment } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { useConfig } from './config.ts'
import { Group } from './option.tsx'
import { Preference } from './preference.tsx'

export function CookieSection() {
  const cookie = useLoad<CookieStatus>('settings/cookie', (signal) => get('/api/cookie/', {}, signal))
  const config = useConfig()
  const [isBusy, setBusy] = useState(false)
  const validate = async () => {
    setBusy(true)
    try {
      const { cookie_validated: isValid } = await post<CookieValidated>('/api/cookie/')
      say(t(isValid ? 'settings.cookie.isValid' : 'settings.cookie.isNot'), { isError: !isValid })
      await cookie.reload()
    } catch (error) {
      sayFailure(error)
    }
    setBusy(false)
  }
  const forgetIt = async () => {
    if (
      !(await confirm({
        title: t('settings.cookie.forget.title'),
        text: <p>{t('settings.cookie.forget.text')}</p>,
        action: t('settings.cookie.forget'),
        isDangerous: true,
      }))
    )
      return
    await remove('/api/cookie/')
    await Promise.all([cookie.reload(), config.reload()])
    say(t('settings.cookie.forgotten'))
  }
  return (
    <>
      <p class="settings-lead">{t('settings.cookie.lead')}</p>
      <Loaded from={cookie}>
        {({ cookie_enabled: isOn, status, validated }) =>
          (isOn || validated > 0) && (
            <Group title={t('settings.cookie.stored')}>
              <p class={status || validated === 0 ? 'option-line' : 'option-line bad'}>
                {validated === 0
                  ? t('settings.cookie.untried')
                  : t(status ? 'settings.cookie.good' : 'settings.cookie.bad', { when: toMoment(validated) })}
              </p>
              <Preference
                config={config}
                name="downloads.cookie_import"
                onSave={async (isOn) => {
                  await config.save({ downloads: { cookie_import: isOn === true } })
                  await cookie.reload()
                }}
              />
              {isOn && <Preference config={config} name="platform.cookie_use" />}
              <div class="option-foot">
                <Button icon={ShieldCheck} isBusy={isBusy} onClick={() => void validate()}>
                  {t('settings.cookie.validate')}
                </Button>
                <Button icon={Trash} onClick={() => void forgetIt().catch(sayFailure)}>
                  {t('settings.cookie.forget')}
                </Button>
              </div>
            </Group>
          )
        }
      </Loaded>
      <Import onDone={() => Promise.all([cookie.reload(), config.reload()])} />
    </>
  )
}

function Import({ onDone }: { onDone: () => Promise<unknown> }) {
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (text.trim() === '') return setError(t('form.required'))
    setBusy(true)
    setError(undefined)
    try {
      await put('/api/cookie/', { cookie: text })
      setText('')
      say(t('settings.cookie.imported'))
      await onDone()
    } catch (thrown) {
      setError(toFailure(thrown).message)
    }
    setBusy(false)
  }
  return (
    <Group title={t('settings.cookie.import')} hint={t('settings.cookie.import.hint')}>
      <form class="option-form" onSubmit={submit} noValidate>
        <Field
          label={t('settings.cookie.text')}
          lines={6}
          value={text}
          onInput={setText}
          autocomplete="off"
          placeholder="# Netscape HTTP Cookie File"
          error={error}
          hint={t('settings.cookie.text.hint')}
        />
        <div>
          <Button kind="main" type="submit" isBusy={isBusy}>
            {t(isBusy ? 'settings.cookie.trying' : 'settings.cookie.take')}
          </Button>
        </div>
      </form>
    </Group>
  )
}
