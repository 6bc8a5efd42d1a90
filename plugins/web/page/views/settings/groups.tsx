/** Groups of channels and playlists: created, ordered, changed and removed. */
import { Pencil, Plus, Podcast as PodcastIcon, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { Chosen, KINDS, type Kind } from '../../parts/chosen.tsx'
import { Dialog, useWhileOpen } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, FormButtons, useForm } from '../../parts/form.tsx'
import { Dot, useGroups } from '../../parts/groups.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { OrderedList, useMoves } from '../../parts/ordered-list.tsx'
import { Picker } from '../../parts/picker.tsx'
import { PodcastDialog } from '../../parts/podcast.tsx'
import { say } from '../../parts/toast.ts'
import { post, remove } from '../../server/api.ts'
import type { ChannelGroup } from '../../server/records.ts'
import { isThere } from '../../stores/left-out.ts'
import { forget } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

/** The server's limit. */
const MOST_MEMBERS = 2000

type Draft = Omit<ChannelGroup, 'id'> & { id?: number }

const NEW: Draft = { name: '', color: '#3366cc', members: [] }

export function GroupsSection() {
  const load = useGroups()
  const [edited, edit] = useState<Draft>()
  const [heard, hear] = useState<number>()
  const reload = async () => {
    forget('list ') // a cached list may be filtered by a group that has changed
    await load.reload()
  }
  const save = async ({ id, ...draft }: Draft) => {
    await post(id === undefined ? '/api/group/' : `/api/group/${id}/`, draft)
    void reload()
  }
  const moves = useMoves(reload)
  const order = (ids: readonly number[], { id, position }: { id: number; position: number }) =>
    moves.move(ids, () => post(`/api/group/${id}/`, { place: position }))
  const drop = async ({ id, ...draft }: ChannelGroup) => {
    const position = moves.shown(load.now.value.value ?? []).findIndex((one) => one.id === id)
    await remove(`/api/group/${id}/`)
    await reload()
    say(t('groups.removed', { name: draft.name }), {
      undo: async () => {
        const made = await post<ChannelGroup>('/api/group/', draft)
        await post(`/api/group/${made.id}/`, { place: position })
        await reload()
      },
    })
  }
  return (
    <>
      <p class="settings-lead">{t('groups.lead')}</p>
      <Group title={t('groups')}>
        <Loaded from={load}>
          {(groups) => (
            <>
              {groups.length === 0 && <p class="option-line">{t('groups.none')}</p>}
              <OrderedList rows={moves.shown(groups)} titleOf={({ name }) => name} order={order}>
                {(group) => (
                  <>
                    <Dot color={group.color} />
                    <div class="row-words">
                      <strong dir="auto">{group.name}</strong>
                      <p class="meta">{membersOf(group)}</p>
                    </div>
                    {isThere('podcast') && (
                      <IconButton
                        icon={PodcastIcon}
                        label={t('podcast.listen')}
                        of={group.name}
                        onClick={() => hear(group.id)}
                      />
                    )}
                    <IconButton icon={Pencil} label={t('groups.edit')} of={group.name} onClick={() => edit(group)} />
                    <IconButton icon={Trash} label={t('groups.remove')} of={group.name} onClick={() => drop(group)} />
                  </>
                )}
              </OrderedList>
              <div class="option-foot">
                <Button icon={Plus} onClick={() => edit(NEW)}>
                  {t('groups.add')}
                </Button>
              </div>
            </>
          )}
        </Loaded>
      </Group>
      {edited && <Editor draft={edited} onSave={save} onClose={() => edit(undefined)} />}
      {heard !== undefined && <PodcastDialog kind="group" target={String(heard)} onClose={() => hear(undefined)} />}
    </>
  )
}

const idsOf = ({ members }: Pick<Draft, 'members'>, kind: Kind): string[] =>
  members.filter((one) => one.kind === kind).map(({ id }) => id)

const membersOf = (group: ChannelGroup): string =>
  [
    t('count.channels', { count: idsOf(group, 'channel').length }),
    t('count.playlists', { count: idsOf(group, 'playlist').length }),
  ].join(' · ')

interface EditorProps {
  draft: Draft
  onSave: (draft: Draft) => Promise<void>
  onClose: () => void
}

function Editor({ draft: given, onSave, onClose }: EditorProps) {
  const [draft, set] = useState(given)
  const [picking, setPicking] = useState<Kind>()
  const close = useWhileOpen(onClose)
  const change = (part: Partial<Draft>) => set((now) => ({ ...now, ...part }))
  const form = useForm({ name: { wrong: draft.name.trim() === '' && t('form.required') } })
  const submit = async () => {
    await onSave({ ...draft, name: draft.name.trim() })
    close()
  }
  const toggle = (kind: Kind, id: string) => {
    const rest = draft.members.filter((one) => one.kind !== kind || one.id !== id)
    if (rest.length < draft.members.length) change({ members: rest })
    else if (rest.length < MOST_MEMBERS) change({ members: [...rest, { kind, id }] })
  }
  return (
    <Dialog title={t(given.id === undefined ? 'groups.new' : 'groups.edit')} onClose={onClose}>
      <Form form={form} onSubmit={submit}>
        {form.refusal}
        <Field
          label={t('groups.name')}
          value={draft.name}
          onInput={(name) => change({ name })}
          error={form.errors.name}
          autocomplete="off"
        />
        <Field label={t('groups.color')} type="color" value={draft.color} onInput={(color) => change({ color })} />
        {KINDS.map((kind) => (
          <Chosen
            key={kind}
            kind={kind}
            ids={idsOf(draft, kind)}
            most={MOST_MEMBERS}
            onDrop={(id) => toggle(kind, id)}
            onPick={() => setPicking(kind)}
          />
        ))}
        <footer>
          <FormButtons action={t('action.save')} onCancel={onClose} />
        </footer>
      </Form>
      {picking && (
        <Picker
          kind={picking}
          title={t(`settings.users.choose.${picking}`)}
          chosen={idsOf(draft, picking)}
          onPick={({ id }) => toggle(picking, id)}
          onClose={() => setPicking(undefined)}
        />
      )}
    </Dialog>
  )
}
