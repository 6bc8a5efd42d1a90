/** Filters and searches that an account has saved under a name, shown on Home. */
import { useSignal } from '@preact/signals'
import { Bookmark, BookmarkMinus, BookmarkPlus } from 'lucide'
import { navigate, queryText } from '../browser/router.ts'
import { get } from '../server/api.ts'
import { inTurn } from '../server/in-turn.ts'
import type { UserPreferences } from '../server/records.ts'
import { changeUserPreferences, userPreferences } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Dialog, useWhileOpen } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form, useForm } from './form.tsx'
import { Icon } from './icon.tsx'
import { Menu, type MenuItem } from './menu.tsx'
import { say } from './toast.ts'

/** The server's limits. */
const MOST = 30
const LONGEST_NAME = 60
const LONGEST_QUERY = 500

interface SavedFiltersProps {
  /** The channel on whose page the filters were chosen: the saved filter is limited to its videos. */
  channel?: string
  /** The search words, saved as `q`; lists on Home have none. */
  search?: string
}

export function SavedFilters({ channel, search }: SavedFiltersProps) {
  const isOpen = useSignal(false)
  const saved = userPreferences.value.saved_filters ?? []
  const now = queryOf({ channel, search })
  const add = t(search === undefined ? 'saved.add' : 'saved.addSearch')
  const current = saved.find(({ query }) => query === now)
  const items: MenuItem[] = saved.map((one) => ({
    label: one.name,
    isChosen: one === current,
    onSelect: () => navigate(hrefOf(one.query)),
  }))
  if (current) {
    items.push({
      label: t('saved.remove', { name: current.name }),
      icon: BookmarkMinus,
      onSelect: () => save((all) => all.filter(({ query }) => query !== current.query)),
    })
  } else if (now !== '' && now.length <= LONGEST_QUERY && saved.length < MOST) {
    items.push({ label: add, icon: BookmarkPlus, onSelect: () => void (isOpen.value = true) })
  }
  if (items.length === 0) return null
  return (
    <>
      <Menu label={current ? `${t('saved.title')}: ${current.name}` : t('saved.title')} items={items} class="chip">
        <Icon node={Bookmark} size={16} />
        <span class="chip-name">{current?.name ?? t('saved.short')}</span>
      </Menu>
      {isOpen.value && <Name title={add} query={now} onClose={() => void (isOpen.value = false)} />}
    </>
  )
}

function queryOf({ channel, search }: SavedFiltersProps): string {
  if (search !== undefined) return search === '' ? '' : new URLSearchParams({ q: search }).toString()
  const all = new URLSearchParams(queryText.value)
  if (channel !== undefined) all.set('channel', channel)
  return all.toString()
}

function hrefOf(saved: string): string {
  const query = new URLSearchParams(saved)
  return `${query.has('q') ? '/search/' : '/'}?${query}`
}

type Saved = NonNullable<UserPreferences['saved_filters']>

/**
 * Reads the saved filters first, so that those stay which the account has saved on another device since this page was
 * opened. Saves run one after the other, so that each builds on the one before.
 */
const save = (change: (saved: Saved) => Saved): Promise<void> =>
  inTurn('saved filters', async () => {
    const { saved_filters: saved } = await get<UserPreferences>('/api/config/user/')
    await changeUserPreferences({ saved_filters: change(saved ?? []) })
  })

function Name({ title, query, onClose }: { title: string; query: string; onClose: () => void }) {
  const name = useSignal('')
  const close = useWhileOpen(onClose)
  const given = name.value.trim().slice(0, LONGEST_NAME)
  const form = useForm({ name: { wrong: given === '' && t('form.required'), showsRest: true } })
  const submit = async () => {
    await save((all) => [...all.filter((one) => one.name !== given), { name: given, query }])
    say(t('saved.added', { name: given }))
    close()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form form={form} onSubmit={submit}>
        <Field
          label={t('saved.name')}
          value={name.value}
          onInput={(value) => void (name.value = value)}
          error={form.errors.name}
          autocomplete="off"
        />
        <footer>
          <Button kind="main" type="submit" icon={BookmarkPlus}>
            {t('action.save')}
          </Button>
        </footer>
      </Form>
    </Dialog>
  )
}
