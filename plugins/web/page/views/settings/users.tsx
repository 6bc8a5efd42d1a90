/** Accounts and their rights. */
import { Clock, Delete, EllipsisVertical, KeyRound, Plus, ShieldOff, Trash, UserCheck, UserCog, UserX } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import type { Kind } from '../../parts/chosen.tsx'
import { confirm, Dialog, useWhileOpen } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, FormButtons, useForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Menu, type MenuItem } from '../../parts/menu.tsx'
import { Picker } from '../../parts/picker.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { Account, ScreenTime } from '../../server/records.ts'
import { isThere } from '../../stores/left-out.ts'
import { useLoad } from '../../stores/load.ts'
import { account as own, roleOf } from '../../stores/session.ts'
import { toMoment } from '../../texts/format.ts'
import { LANGUAGE, t } from '../../texts/lookup.ts'
import { SHORTEST_PASSWORD } from './account.tsx'
import { Asks } from './asks.tsx'
import { Group } from './option.tsx'
import { PreferenceGroup } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'
import { NEW_ACCOUNT, RightsFields, rightsOf, toBody, toggled } from './rights.tsx'

const MORE_MINUTES = 5
const MOST_MINUTES = 1440
const isMinutes = (text: string): boolean => /^\d+$/.test(text) && Number(text) <= MOST_MINUTES

const timeText = ({ minutes, left }: ScreenTime): string =>
  t('settings.users.time', { minutes: minutes ?? 0, left: Math.ceil(left / 60) })

/** The purpose of an open dialog. */
type Open = { what: 'new'; user?: undefined } | { what: 'password' | 'rights'; user: Account }

export function UsersSection() {
  const users = useLoad<Account[]>('settings/users', (signal) => get('/api/user/', {}, signal))
  const times = useLoad<ScreenTime[]>('settings/screentime', (signal) =>
    isThere('screentime') ? get('/api/screentime/', {}, signal) : Promise.resolve([]),
  )
  const timeOf = (user: Account) => times.now.value.value?.find(({ user_id }) => user_id === user.id)
  const preferences = usePreferences()
  const [open, setOpen] = useState<Open>()
  const change = async (user: Account, wanted: { is_active: boolean } | { pin: null } | { totp: null }) => {
    await post(`/api/user/${user.id}/`, wanted)
    await users.reload()
    say(t('settings.saved'))
  }
  const drop = async (user: Account) => {
    const text = (
      <>
        <p>{t('settings.users.delete.goes', { name: user.username })}</p>
        <p>{t('settings.users.delete.stays')}</p>
      </>
    )
    if (
      !(await confirm({ title: t('settings.users.delete.title'), text, action: t('action.delete'), isDangerous: true }))
    )
      return
    await remove(`/api/user/${user.id}/`)
    await users.reload()
    say(t('settings.users.deleted', { name: user.username }))
  }
  /** One’s own password, PIN and second factor are in Settings → Account, which asks for the current password. */
  const isOwn = (user: Account): boolean => user.id === own.value?.id
  const itemsOf = (user: Account): MenuItem[] => [
    ...(isOwn(user)
      ? []
      : [{ label: t('settings.users.password'), icon: KeyRound, onSelect: () => setOpen({ user, what: 'password' }) }]),
    { label: t('settings.users.rights'), icon: UserCog, onSelect: () => setOpen({ user, what: 'rights' }) },
    ...(timeOf(user)
      ? [
          {
            label: t('settings.users.more'),
            icon: Clock,
            onSelect: async () => {
              await post(`/api/screentime/${user.id}/`, { more: MORE_MINUTES })
              await times.reload()
              say(t('settings.users.more.given', { name: user.username }))
            },
          },
        ]
      : []),
    ...(user.has_pin && !isOwn(user)
      ? [
          {
            label: t('settings.pin.remove'),
            icon: Delete,
            onSelect: () => change(user, { pin: null }),
          },
        ]
      : []),
    ...(user.has_totp && !isOwn(user)
      ? [
          {
            label: t('settings.users.totpOff'),
            icon: ShieldOff,
            onSelect: () => change(user, { totp: null }),
          },
        ]
      : []),
    {
      label: t(user.is_active ? 'settings.users.lock' : 'settings.users.unlock'),
      icon: user.is_active ? UserX : UserCheck,
      onSelect: () => change(user, { is_active: !user.is_active }),
    },
    { label: t('action.delete'), icon: Trash, isDangerous: true, onSelect: () => drop(user) },
  ]
  return (
    <>
      {isThere('ask') && <Asks />}
      <Loaded from={users}>
        {(all) => (
          <Group title={t('settings.users.all')} hint={t('settings.users.hint')}>
            <ul class="settings-rows">
              {all.map((user) => (
                <li key={user.id}>
                  <Avatar of={user} size={36} />
                  <div class="row-words">
                    <strong>{user.username}</strong>
                    <p class="meta">
                      {summaryOf(user)}
                      {timeOf(user) && ` · ${timeText(timeOf(user)!)}`}
                      {isOwn(user) && ` · ${t('settings.users.you')}`}
                      {!user.is_active && ` · ${t('settings.users.locked')}`}
                      {` · ${user.last_login ? t('settings.users.seen', { when: toMoment(user.last_login) }) : t('settings.users.never')}`}
                    </p>
                  </div>
                  <Menu label={t('action.moreFor', { title: user.username })} items={itemsOf(user)}>
                    <Icon node={EllipsisVertical} />
                  </Menu>
                </li>
              ))}
            </ul>
          </Group>
        )}
      </Loaded>
      <div>
        <Button kind="main" icon={Plus} onClick={() => setOpen({ what: 'new' })}>
          {t('settings.users.add')}
        </Button>
      </div>
      <Loaded from={preferences}>
        {() => (
          <Group title={t('settings.signIns')} hint={t('settings.forAll')}>
            <PreferenceGroup preferences={preferences} group="sign-ins" />
          </Group>
        )}
      </Loaded>
      {isThere('ask') && (
        <Loaded from={preferences}>
          {() => (
            <Group title={t('settings.children')}>
              <PreferenceGroup preferences={preferences} group="children" />
            </Group>
          )}
        </Loaded>
      )}
      {open && (
        <UserDialog
          open={open}
          minutes={(open.user && timeOf(open.user)?.minutes) ?? null}
          onClose={() => setOpen(undefined)}
          onDone={() => Promise.all([users.reload(), times.reload()])}
        />
      )}
    </>
  )
}

/** A dialog for a new account, a new password or other rights. */
function UserDialog({
  open,
  minutes,
  onClose,
  onDone,
}: {
  open: Open
  /** The account's daily screen time. */
  minutes: number | null
  onClose: () => void
  onDone: () => Promise<unknown>
}) {
  const { user, what } = open
  const close = useWhileOpen(onClose)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [rights, setRights] = useState(user ? rightsOf(user) : NEW_ACCOUNT)
  const [picking, setPicking] = useState<Kind>()
  const [typed, setTyped] = useState<string>()
  // The stored time may arrive while the dialog is open.
  const time = typed ?? (minutes === null ? '' : String(minutes))
  const asksPassword = what !== 'rights'
  const asksRights = what !== 'password'
  const isShort = asksPassword && password.length < SHORTEST_PASSWORD
  const isTimed = asksRights && rights.role === 'child' && isThere('screentime')
  const form = useForm({
    username: { wrong: !user && name === '' && t('form.required'), refused: t('settings.users.name') },
    password: { wrong: isShort && t('settings.password.short', { count: SHORTEST_PASSWORD }) },
    minutes: { wrong: isTimed && !(time === '' || isMinutes(time)) && t('settings.users.minutes.wrong') },
  })
  /**
   * The account that was created. If setting its daily screen time has failed, the next attempt changes this account.
   */
  const made = useRef(user)
  const submit = async () => {
    const body = { ...(asksPassword && { password }), ...(asksRights && toBody(rights)) }
    const saved = made.current
      ? await post<Account>(`/api/user/${made.current.id}/`, body)
      : await post<Account>('/api/user/', { ...body, username: name })
    made.current = saved
    const wanted = isTimed ? typed : minutes === null ? undefined : ''
    if (asksRights && wanted !== undefined)
      await post(`/api/screentime/${saved.id}/`, { minutes: wanted === '' ? null : Number(wanted) })
    await onDone()
    close()
    say(DONE[what](user?.username ?? name))
  }
  return (
    <Dialog title={TITLES[what](user?.username ?? '')} onClose={onClose}>
      <Form form={form} onSubmit={submit}>
        {form.refusal}
        {!user && (
          <Field
            label={t('login.name')}
            value={name}
            onInput={setName}
            autocomplete="off"
            isRequired
            error={form.errors.username}
          />
        )}
        {asksPassword && (
          <Field
            label={t('login.password')}
            type="password"
            autocomplete="new-password"
            value={password}
            onInput={setPassword}
            isRequired
            hint={t('settings.password.least', { count: SHORTEST_PASSWORD })}
            error={form.errors.password}
          />
        )}
        {asksRights && <RightsFields rights={rights} onChange={setRights} onPick={setPicking} />}
        {isTimed && (
          <Field
            label={t('settings.users.minutes')}
            type="number"
            min={0}
            max={MOST_MINUTES}
            value={time}
            onInput={setTyped}
            hint={t('settings.users.minutes.hint')}
            error={form.errors.minutes}
          />
        )}
        <footer>
          <FormButtons action={user ? t('action.save') : t('settings.users.add')} onCancel={onClose} />
        </footer>
      </Form>
      {picking && (
        <Picker
          kind={picking}
          title={t(`settings.users.choose.${picking}`)}
          chosen={rights.chosen[picking]}
          onPick={({ id }) => setRights(toggled(rights, picking, id))}
          onClose={() => setPicking(undefined)}
        />
      )}
    </Dialog>
  )
}

const TITLES: Record<Open['what'], (name: string) => string> = {
  new: () => t('settings.users.add'),
  password: (name) => t('settings.users.passwordOf', { name }),
  rights: (name) => t('settings.users.rightsOf', { name }),
}
const DONE: Record<Open['what'], (name: string) => string> = {
  new: (name) => t('settings.users.added', { name }),
  password: (name) => t('settings.users.passwordSet', { name }),
  rights: () => t('settings.saved'),
}

const lists = new Intl.ListFormat(LANGUAGE, { type: 'conjunction' })

/** The role in one word; for a child also how much it sees. */
function summaryOf(user: Account): string {
  const role = t(`settings.users.role.${roleOf(user)}`)
  const { isExcept, chosen, groups } = rightsOf(user)
  if (!user.view) return role
  const parts = [
    t('count.channels', { count: chosen.channel.length }),
    t('count.playlists', { count: chosen.playlist.length }),
    ...(groups.length > 0 ? [t('count.groups', { count: groups.length })] : []),
  ]
  return `${role}: ${t(isExcept ? 'settings.users.seesNot' : 'settings.users.sees', { what: lists.format(parts) })}`
}
