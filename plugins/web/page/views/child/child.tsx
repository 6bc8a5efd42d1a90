/** The parts of a child's frame. */
export { Answers } from './answers.tsx'
export { TimeLeft } from './time-left.tsx'
