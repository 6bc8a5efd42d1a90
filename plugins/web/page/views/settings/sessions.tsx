/** The account's sessions, which can be ended one by one or all except the current one. */
import { LogOut } from 'lucide'
import { useEffect } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, remove } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { NewSignIn, OwnSession } from '../../server/records.ts'
import { isThere } from '../../stores/left-out.ts'
import { useLoad } from '../../stores/load.ts'
import { attention, readAttention } from '../../stores/session.ts'
import { toMoment } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

type Origin = Pick<OwnSession, 'browser' | 'system' | 'address'>

export const nameOf = ({ browser, system }: Origin): string =>
  browser && system
    ? t('settings.sessions.device', { browser, system })
    : browser || system || t('settings.sessions.unknown')

export function Sessions() {
  const sessions = useLoad<OwnSession[]>('settings/sessions', (signal) => get('/api/own-session/', {}, signal))
  // Reloaded, because there may be new sign-ins; on failure the current list stays.
  useEffect(() => void readAttention().catch(() => undefined), [])
  const end = async (session: OwnSession) => {
    await remove(`/api/own-session/${session.id}/`)
    await sessions.reload()
    say(t('settings.sessions.ended', { name: nameOf(session) }))
  }
  const endOthers = async () => {
    const title = t('settings.sessions.endOthers.title')
    const text = <p>{t('settings.sessions.endOthers.text')}</p>
    if (!(await confirm({ title, text, action: t('settings.sessions.endOthers'), isDangerous: true }))) return
    await remove('/api/own-session/')
    await sessions.reload()
    say(t('settings.sessions.othersEnded'))
  }
  return (
    <Group title={t('settings.sessions')} hint={t('settings.sessions.hint')}>
      {attention.value?.sign_ins.map((one) => (
        <NewDevice key={one.id} signIn={one} />
      ))}
      <Loaded from={sessions}>
        {(all) => (
          <>
            <ul class="settings-rows">
              {all.map((session) => (
                <li key={session.id}>
                  <div class="row-words">
                    <strong>{nameOf(session)}</strong>
                    <p class="meta">{summaryOf(session)}</p>
                  </div>
                  {!session.is_current && (
                    <Button
                      icon={LogOut}
                      aria-label={t('settings.sessions.end.of', { name: nameOf(session) })}
                      onClick={() => end(session)}
                    >
                      {t('settings.sessions.end')}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
            <div class="option-foot">
              {isThere('signincode') && (
                <a class="button" href={under('/link/')}>
                  {t('link.title')}
                </a>
              )}
              {all.some((session) => !session.is_current) && (
                <Button onClick={() => endOthers()}>{t('settings.sessions.endOthers')}</Button>
              )}
            </div>
          </>
        )}
      </Loaded>
    </Group>
  )
}

function NewDevice({ signIn }: { signIn: NewSignIn }) {
  const see = async () => {
    await remove(`/api/new-sign-in/${signIn.id}/`)
    await readAttention()
  }
  return (
    <div class="notice">
      <p>{t('settings.sessions.new', { name: nameOf(signIn), address: signIn.address, when: toMoment(signIn.at) })}</p>
      <Button onClick={() => see()}>{t('settings.sessions.new.mine')}</Button>
    </div>
  )
}

function summaryOf({ is_current, address, last_used }: OwnSession): string {
  const when = is_current ? t('settings.sessions.here') : t('settings.sessions.used', { when: toMoment(last_used) })
  return [when, address].filter(Boolean).join(' · ')
}
