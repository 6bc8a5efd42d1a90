/** Accounts: who may sign in, and who may change things. */

import { EllipsisVertical, KeyRound, Plus, Trash, UserCheck, UserCog, UserX } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm, Dialog } from '../../parts/dialog.tsx'
import { Field, Switch } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu, type MenuItem } from '../../parts/menu.tsx'
import { say, sayFailure } from '../../parts/toast.tsx'
import { type Failure, get, post, remove, toFailure } from '../../server/api.ts'
import type { Account } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { account as own } from '../../stores/session.ts'
import { toMoment } from '../../texts/format.ts'
import { t } from '../../texts/texts.ts'
import { SHORTEST_PASSWORD } from './account.tsx'
import { Loaded } from './loaded.tsx'
import { Group } from './option.tsx'

export function UsersSection() {
  const users = useLoad<Account[]>('settings/users', (signal) => get('/api/user/', {}, signal))
  const [open, setOpen] = useState<'new' | Account>()
  const change = async (user: Account, wanted: Partial<Pick<Account, 'is_staff' | 'is_active'>>) => {
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
  const itemsOf = (user: Account): MenuItem[] => [
    { label: t('settings.users.password'), icon: KeyRound, onSelect: () => setOpen(user) },
    {
      label: t(user.is_staff ? 'settings.users.toUser' : 'settings.users.toAdmin'),
      icon: UserCog,
      onSelect: () => void change(user, { is_staff: !user.is_staff }).catch(sayFailure),
    },
    {
      label: t(user.is_active ? 'settings.users.lock' : 'settings.users.unlock'),
      icon: user.is_active ? UserX : UserCheck,
      onSelect: () => void change(user, { is_active: !user.is_active }).catch(sayFailure),
    },
    { label: t('action.delete'), icon: Trash, isDangerous: true, onSelect: () => void drop(user).catch(sayFailure) },
  ]
  return (
    <>
      <Loaded from={users}>
        {(all) => (
          <Group title={t('settings.users.all')} hint={t('settings.users.hint')}>
            <ul class="settings-rows">
              {all.map((user) => (
                <li key={user.id}>
                  <div class="row-words">
                    <strong>{user.username}</strong>
                    <p class="meta">
                      {t(user.is_staff ? 'settings.role.admin.short' : 'settings.role.user.short')}
                      {user.id === own.value?.id && ` · ${t('settings.users.you')}`}
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
        <Button kind="main" icon={Plus} onClick={() => setOpen('new')}>
          {t('settings.users.add')}
        </Button>
      </div>
      {open && <UserDialog user={open} onClose={() => setOpen(undefined)} onDone={() => void users.reload()} />}
    </>
  )
}

/** A new account, or a new password of one that is there. */
function UserDialog({ user, onClose, onDone }: { user: 'new' | Account; onClose: () => void; onDone: () => void }) {
  const isNew = user === 'new'
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [isStaff, setStaff] = useState(false)
  const [isTried, setTried] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const submit = async (event: Event) => {
    event.preventDefault()
    setTried(true)
    setFailure(undefined)
    if ((isNew && name === '') || password.length < SHORTEST_PASSWORD) return
    try {
      if (isNew) await post('/api/user/', { username: name, password, is_staff: isStaff })
      else await post(`/api/user/${user.id}/`, { password })
      say(isNew ? t('settings.users.added', { name }) : t('settings.users.passwordSet', { name: user.username }))
      onDone()
      onClose()
    } catch (error) {
      setFailure(toFailure(error))
    }
  }
  const isShort = isTried && password.length < SHORTEST_PASSWORD
  return (
    <Dialog
      title={isNew ? t('settings.users.add') : t('settings.users.passwordOf', { name: user.username })}
      onClose={onClose}
    >
      <form onSubmit={submit} noValidate>
        {failure && Object.keys(failure.fields).length === 0 && (
          <p class="notice error" role="alert">
            {failure.message}
          </p>
        )}
        {isNew && (
          <Field
            label={t('login.name')}
            value={name}
            onInput={setName}
            autocomplete="off"
            isRequired
            error={
              isTried && name === '' ? t('form.required') : failure?.fields['username'] && t('settings.users.name')
            }
          />
        )}
        <Field
          label={t('login.password')}
          type="password"
          autocomplete="new-password"
          value={password}
          onInput={setPassword}
          isRequired
          hint={t('settings.password.least', { count: SHORTEST_PASSWORD })}
          error={isShort ? t('settings.password.short', { count: SHORTEST_PASSWORD }) : failure?.fields['password']}
        />
        {isNew && (
          <Switch
            label={t('settings.users.admin')}
            hint={t('settings.users.admin.hint')}
            isOn={isStaff}
            onChange={setStaff}
          />
        )}
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="main" type="submit">
            {isNew ? t('settings.users.add') : t('action.save')}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
