/** The editor of a rule: scope, conditions, outcome, and a preview of what it would change. */
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../../parts/button.tsx'
import { Dialog, useWhileOpen } from '../../../parts/dialog.tsx'
import { Field, Select } from '../../../parts/field.tsx'
import { Form, FormButtons, useForm } from '../../../parts/form.tsx'
import { Picker } from '../../../parts/picker.tsx'
import { type ConditionName, scopeName } from '../../../parts/rule-words.ts'
import { get } from '../../../server/api.ts'
import type { ChannelGroup, Rule, RuleConditions, Rules } from '../../../server/records.ts'
import { isAdmin } from '../../../stores/session.ts'
import { t } from '../../../texts/lookup.ts'
import { Change } from './change.tsx'
import { beginningOf, ConditionField, cleaned, labelOf, namesFor } from './conditions.tsx'
import type { Draft } from './draft.ts'

const OUTCOMES = { take: ['skip', 'ignore', 'take'], keep: ['remove', 'keep', 'fetch'] } as const
const CODECS = ['best', 'compatible', 'smallest', 'sound'] as const
const HEIGHTS = ['2160', '1440', '1080', '720', '480'] as const

interface Props {
  draft: Draft
  saved: Rules
  onSave: (draft: Draft) => Promise<void>
  onClose: () => void
}

export function RuleEditor({ draft: given, saved, onSave, onClose }: Props) {
  const [draft, set] = useState(given)
  const { side, conditions, outcome, name } = draft
  const close = useWhileOpen(onClose)
  const change = (part: Partial<Draft>) => set((now) => ({ ...now, ...part }))
  const names = Object.keys(conditions) as ConditionName[]
  const form = useForm<string>(
    Object.fromEntries(
      names.flatMap((one) => [
        [`conditions.${one}`, { wrong: !cleaned({ [one]: conditions[one] }) && t('form.required') }],
        // The server reports errors of words and patterns under these names.
        ...[`conditions.${one}.pattern`, `conditions.${one}.words`].map((part) => [part, {}]),
      ]),
    ),
  )
  const errorOf = (one: ConditionName) =>
    form.errors[`conditions.${one}`] ??
    form.errors[`conditions.${one}.pattern`] ??
    form.errors[`conditions.${one}.words`]
  /** The server refuses a rule that would remove everything. A new rule would, until it has a condition. */
  const removesAll = outcome === 'remove' && names.length === 0 && draft.scope.kind === 'all'
  const send = (): Draft => ({ ...draft, conditions: cleaned(conditions) ?? {}, name: name.trim() })
  const submit = async () => {
    await onSave(send())
    close()
  }
  return (
    <Dialog title={t(given.id === undefined ? 'rules.new' : 'rules.edit')} onClose={onClose} isWide>
      <Form form={form} class="rule-editor" onSubmit={submit}>
        <Select
          label={t('rules.outcome')}
          value={outcome}
          choices={OUTCOMES[side].map((one) => ({ value: one as Rule['outcome'], label: t(`rules.outcome.${one}`) }))}
          hint={t(`rules.outcome.${outcome}.hint`)}
          onChange={(chosen) => {
            const { quality: _quality, ...rest } = draft
            set({ ...(chosen === 'take' ? draft : rest), outcome: chosen })
          }}
        />
        {outcome === 'take' && <QualityFields draft={draft} change={change} />}
        <ScopeField draft={draft} saved={saved} change={change} />
        {names.map((one) => (
          <ConditionField
            key={one}
            name={one}
            value={conditions[one]}
            side={side}
            isAsked={
              side === 'take' &&
              (saved.asked.includes(one) || (one === 'kinds' && (conditions.kinds ?? []).includes('premieres')))
            }
            error={errorOf(one)}
            onChange={(value) => change({ conditions: { ...conditions, [one]: value } as RuleConditions })}
            onRemove={() => {
              const { [one]: _removed, ...rest } = conditions
              change({ conditions: rest })
            }}
          />
        ))}
        <Select<ConditionName | ''>
          label={t('rules.condition.add')}
          value=""
          hint={names.length === 0 ? t('rules.condition.none') : undefined}
          choices={[
            { value: '', label: t('rules.condition.choose') },
            ...namesFor(side)
              .filter((one) => !names.includes(one))
              .map((one) => ({ value: one, label: labelOf(one) })),
          ]}
          onChange={(one) =>
            one !== '' && change({ conditions: { ...conditions, [one]: beginningOf(one) } as RuleConditions })
          }
        />
        <Field
          label={t('rules.name')}
          hint={t('rules.name.hint')}
          value={name}
          onInput={(text) => change({ name: text })}
          autocomplete="off"
        />
        {side === 'keep' && (
          <Change draft={cleaned(conditions) && !removesAll ? send() : undefined} saved={saved.keep} />
        )}
        {form.refusal}
        <footer class="buttons">
          <FormButtons action={t('action.save')} onCancel={onClose} />
        </footer>
      </Form>
    </Dialog>
  )
}

interface PartProps {
  draft: Draft
  change: (part: Partial<Draft>) => void
}

function QualityFields({ draft: { quality = {} }, change }: PartProps) {
  const set = (part: NonNullable<Draft['quality']>) => change({ quality: { ...quality, ...part } })
  return (
    <>
      <Select
        label={t('rules.quality.height')}
        value={String(quality.quality_height ?? '')}
        choices={[
          { value: '', label: t('channel.everywhere') },
          ...HEIGHTS.map((lines) => ({ value: lines as string, label: t('channel.quality.most', { lines }) })),
        ]}
        onChange={(lines) => {
          const { quality_height: _height, ...rest } = quality
          change({ quality: { ...rest, ...(lines !== '' && { quality_height: Number(lines) }) } })
        }}
      />
      <Select<(typeof CODECS)[number] | ''>
        label={t('channel.quality.codec')}
        value={quality.quality_codec ?? ''}
        choices={[
          { value: '', label: t('channel.everywhere') },
          ...CODECS.map((codec) => ({ value: codec, label: t(`channel.quality.codec.${codec}`) })),
        ]}
        onChange={(codec) => {
          if (codec !== '') return set({ quality_codec: codec })
          const { quality_codec: _codec, ...rest } = quality
          change({ quality: rest })
        }}
      />
    </>
  )
}

type Scope = Rule['scope']

function ScopeField({ draft: { scope }, saved, change }: PartProps & { saved: Rules }) {
  const [groups, setGroups] = useState<ChannelGroup[]>([])
  const [picked, setPicked] = useState('')
  const [isOpen, open] = useState<'channel' | 'playlist'>()
  useEffect(() => {
    get<ChannelGroup[]>('/api/group/').then(setGroups, () => undefined)
  }, [])
  const known = [...saved.take, ...saved.keep].find((rule) => JSON.stringify(rule.scope) === JSON.stringify(scope))
  const name = picked || (known ? scopeName(known) : '')
  const value = scope.kind === 'group' ? `group ${scope.id}` : scope.kind
  const choose = (chosen: string) => {
    const [kind, id] = chosen.split(' ')
    if (kind === 'all') change({ scope: { kind: 'all' } })
    else if (kind === 'group') change({ scope: { kind: 'group', id: Number(id) } })
    else open(kind as 'channel' | 'playlist')
  }
  return (
    <div class="rule-scope">
      <Select
        label={t('rules.scope')}
        value={value}
        choices={[
          ...(isAdmin.value || scope.kind === 'all' ? [{ value: 'all', label: t('rules.scope.all') }] : []),
          { value: 'channel', label: t('rules.scope.channel') },
          { value: 'playlist', label: t('rules.scope.playlist') },
          ...(isAdmin.value
            ? groups.map(({ id, name: label }) => ({
                value: `group ${id}`,
                label: t('rules.scope.group', { name: label }),
              }))
            : []),
        ]}
        onChange={choose}
      />
      {(scope.kind === 'channel' || scope.kind === 'playlist') && (
        <Button onClick={() => open(scope.kind as 'channel' | 'playlist')} of={t('rules.scope')}>
          {name || t('rules.scope.pick')}
        </Button>
      )}
      {isOpen && (
        <Picker
          kind={isOpen}
          title={t(`rules.scope.${isOpen}`)}
          onPick={(found) => {
            setPicked(found.name)
            change({ scope: { kind: isOpen, id: found.id } as Scope })
            open(undefined)
          }}
          onClose={() => open(undefined)}
        />
      )}
    </div>
  )
}
