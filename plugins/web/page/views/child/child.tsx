/** The parts of a child's frame. */
export { Answers } from './answers.tsx'
export { TimeLeft, TimeOver } from './time-left.tsx'
